import * as tf from '@tensorflow/tfjs';
import type { LlamaConfig } from './config';
import type { Weights } from './linear';
import { forwardHidden, outputMatrix, type ForwardOptions } from './transformer';

/** Logits are made for at most this many (token, vocabulary entry) pairs at once: 64 MiB of float32. */
export const LOGIT_CHUNK = 2 ** 24;

export interface LogProbOptions extends ForwardOptions {
  /** Other limit than `LOGIT_CHUNK`. */
  readonly logitChunk?: number;
}

/**
 * log π(target_t | tokens_≤t) for every position, natural logarithm of the untempered softmax.
 *
 * @param tokenIds  `[B, T]` int32
 * @param targetIds `[B, T]` int32: the token that follows each one; padding may hold any valid id
 * @returns `[B, T]` nats, never positive. Gradients reach the weights, or, with `options.lora`, only the adapter and the weights below
 *   the output layer, which is then taken as fixed.
 */
export function tokenLogProbs(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  targetIds: tf.Tensor2D,
  options: LogProbOptions = {},
): tf.Tensor2D {
  return tf.tidy(() => tf.reshape(statistics(config, weights, tokenIds, targetIds, options, false), targetIds.shape));
}

/** The same with the entropy of each distribution, −Σ π log π, `[B, T]` nats. */
export function tokenLogProbsAndEntropies(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  targetIds: tf.Tensor2D,
  options: LogProbOptions = {},
): { logProbs: tf.Tensor2D; entropies: tf.Tensor2D } {
  return tf.tidy(() => {
    const both = statistics(config, weights, tokenIds, targetIds, options, true);
    const [logProbs, entropies] = tf.split(both, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
    return { logProbs: tf.reshape(logProbs, targetIds.shape), entropies: tf.reshape(entropies, targetIds.shape) };
  });
}

/** `[B·T, 1]` log-probs, or `[B·T, 2]` log-probs and entropies, made chunk by chunk of tokens. */
function statistics(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  targetIds: tf.Tensor2D,
  options: LogProbOptions,
  withEntropy: boolean,
): tf.Tensor2D {
  const hidden = tf.reshape<tf.Rank.R2>(forwardHidden(config, weights, tokenIds, options), [-1, config.hiddenSize]);
  const targets = tf.reshape<tf.Rank.R1>(targetIds, [-1]);
  const head = outputMatrix(config, weights);
  const isHeadFixed = options.lora !== undefined;
  const sizes = chunkSizes(
    targets.size,
    Math.max(1, Math.floor((options.logitChunk ?? LOGIT_CHUNK) / config.vocabSize)),
  );
  if (sizes.length === 1) return headStatistics(hidden, head, targets, { withEntropy, isHeadFixed, recompute: false });
  const hiddenChunks = tf.split(hidden, sizes, 0);
  const targetChunks = tf.split(targets, sizes, 0);
  const chunks = hiddenChunks.map((rows, i) =>
    headStatistics(rows as tf.Tensor2D, head, targetChunks[i] as tf.Tensor1D, {
      withEntropy,
      isHeadFixed,
      recompute: true,
    }),
  );
  return tf.concat2d(chunks, 0);
}

/** `total` in pieces of at most `limit`, as equal as can be: fewer different shapes to compile. */
export function chunkSizes(total: number, limit: number): number[] {
  const count = Math.ceil(total / limit);
  return Array.from(
    { length: count },
    (_, i) => Math.floor(((i + 1) * total) / count) - Math.floor((i * total) / count),
  );
}

interface HeadMode {
  readonly withEntropy: boolean;
  readonly isHeadFixed: boolean;
  /** Keep no logits for the backward pass; make them again there. */
  readonly recompute: boolean;
}

/**
 * Output layer, log-softmax and choice of the target as one operation with its own gradient,
 *
 *   ∂log π(a)/∂z = onehot(a) − π        ∂H/∂z = −π · (log π + H)
 *
 * so that of all `[N, vocabSize]` intermediates at most the shifted logits outlive the forward pass.
 */
function headStatistics(hidden: tf.Tensor2D, head: tf.Tensor2D, targets: tf.Tensor1D, mode: HeadMode): tf.Tensor2D {
  const operation = (
    rows: tf.Tensor2D,
    matrix: tf.Tensor2D,
    save: tf.GradSaveFunc,
  ): { value: tf.Tensor2D; gradFunc: (dy: tf.Tensor2D, saved: tf.Tensor[]) => tf.Tensor2D[] } => {
    const logProbs = logSoftmax(tf.matMul<tf.Tensor2D>(rows, matrix, false, true));
    const chosen = tf.sum<tf.Tensor2D>(tf.mul(logProbs, oneHot(targets, matrix)), 1, true);
    const value = mode.withEntropy ? tf.concat2d([chosen, entropy(logProbs)], 1) : chosen;
    save(mode.recompute ? [rows, matrix, targets] : [rows, matrix, targets, logProbs]);
    return { value, gradFunc: (dy, saved) => headGradients(dy, saved, mode) };
  };
  if (!mode.isHeadFixed)
    return tf.customGrad((rows, matrix, save) =>
      operation(rows as tf.Tensor2D, matrix as tf.Tensor2D, save as tf.GradSaveFunc),
    )(hidden, head) as tf.Tensor2D;
  return tf.customGrad((rows, save) => operation(rows as tf.Tensor2D, head, save as unknown as tf.GradSaveFunc))(
    hidden,
  ) as tf.Tensor2D;
}

function headGradients(dy: tf.Tensor2D, saved: tf.Tensor[], mode: HeadMode): tf.Tensor2D[] {
  const [rows, matrix, targets, kept] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D, tf.Tensor2D | undefined];
  const logProbs = kept ?? logSoftmax(tf.matMul<tf.Tensor2D>(rows, matrix, false, true));
  const probabilities = tf.exp(logProbs);
  const [dLogProb, dEntropy] = (mode.withEntropy ? tf.split(dy, 2, 1) : [dy]) as [tf.Tensor2D, tf.Tensor2D?];
  let dLogits = tf.mul(tf.sub(oneHot(targets, matrix), probabilities), dLogProb) as tf.Tensor2D;
  if (dEntropy) dLogits = tf.sub(dLogits, tf.mul(tf.mul(probabilities, tf.add(logProbs, entropy(logProbs))), dEntropy));
  const dRows = tf.matMul<tf.Tensor2D>(dLogits, matrix);
  return mode.isHeadFixed ? [dRows] : [dRows, tf.matMul<tf.Tensor2D>(dLogits, rows, true)];
}

export function logSoftmax(z: tf.Tensor2D): tf.Tensor2D {
  const shifted = tf.sub(z, tf.max(z, 1, true));
  return tf.sub(shifted, tf.log(tf.sum(tf.exp(shifted), 1, true)));
}

export function entropy(logProbs: tf.Tensor2D): tf.Tensor2D {
  return tf.neg(tf.sum<tf.Tensor2D>(tf.mul(tf.exp(logProbs), logProbs), 1, true));
}

// Cast, not oneHot's own dtype argument: the wasm backend ignores that one and gives int32.
function oneHot(targets: tf.Tensor1D, head: tf.Tensor2D): tf.Tensor2D {
  return tf.cast(tf.oneHot(targets, head.shape[0]), 'float32') as tf.Tensor2D;
}
