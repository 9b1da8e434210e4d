import * as tf from '@tensorflow/tfjs';
import type { LlamaConfig } from './config';
import type { Weights } from './linear';
import { spreadOut } from './needed-rows';
import { forwardRows, outputMatrix, type RowOptions } from './transformer';

/** Logits are made for at most this many (token, vocabulary entry) pairs at once: 64 MiB of float32. */
export const LOGIT_CHUNK = 2 ** 24;

/** The same under an output layer that is not trained: fewer and larger products, because less is kept of each. */
const FIXED_HEAD_CHUNK = 4 * LOGIT_CHUNK;

/** With `needed` the results of other positions are finite and mean nothing, and the loss must give them no weight. */
export interface LogProbOptions extends RowOptions {
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
  const { needed } = options;
  const hidden = forwardRows(config, weights, tokenIds, options);
  const all = tf.reshape<tf.Rank.R1>(targetIds, [-1]);
  const targets = needed ? tf.gather(all, needed.rows) : all;
  const head = outputMatrix(config, weights);
  const isHeadFixed = options.lora !== undefined;
  const sizes = chunkSizes(
    targets.size,
    Math.max(1, Math.floor((options.logitChunk ?? (isHeadFixed ? FIXED_HEAD_CHUNK : LOGIT_CHUNK)) / config.vocabSize)),
  );
  const byRow = (rows: tf.Tensor2D): tf.Tensor2D => (needed ? spreadOut(rows, needed) : rows);
  if (sizes.length === 1)
    return byRow(headStatistics(hidden, head, targets, { withEntropy, isHeadFixed, recompute: false }));
  const hiddenChunks = tf.split(hidden, sizes, 0);
  const targetChunks = tf.split(targets, sizes, 0);
  const chunks = hiddenChunks.map((rows, i) =>
    headStatistics(rows as tf.Tensor2D, head, targetChunks[i] as tf.Tensor1D, {
      withEntropy,
      isHeadFixed,
      recompute: true,
    }),
  );
  return byRow(tf.concat2d(chunks, 0));
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
  /** Keep no log-probs of the whole vocabulary for the backward pass; make them again there. */
  readonly recompute: boolean;
}

/** Output layer, log-softmax and choice of the target as one operation with its own gradient: `[N, 1]` or `[N, 2]`. */
function headStatistics(hidden: tf.Tensor2D, head: tf.Tensor2D, targets: tf.Tensor1D, mode: HeadMode): tf.Tensor2D {
  if (mode.isHeadFixed) return fixedHeadStatistics(hidden, head, targets, mode.withEntropy);
  const operation = tf.customGrad((...all) => {
    const [rows, matrix, save] = all as unknown as [tf.Tensor2D, tf.Tensor2D, tf.GradSaveFunc];
    const logProbs = logSoftmax(tf.matMul<tf.Tensor2D>(rows, matrix, false, true));
    save(mode.recompute ? [rows, matrix, targets] : [rows, matrix, targets, logProbs]);
    const value = chosenAndEntropy(logProbs, targets, mode.withEntropy);
    return { value, gradFunc: (dy, saved) => headGradients(dy as tf.Tensor2D, saved, mode) };
  });
  return operation(hidden, head) as tf.Tensor2D;
}

/**
 * With z = x Wᵀ, and dy for log π(a) and dH for the entropy H,
 *
 *   ∂log π(a)/∂z = onehot(a) − π        ∂H/∂z = −π · (log π + H)
 *
 * The one-hot part is a row of W, and a row for W, so that no one-hot matrix is made: ∂x = dy · W[a] + D W and
 * ∂W = Σ dy · x at a + Dᵀ x, where D = −π · (dy + (log π + H) · dH).
 */
function headGradients(dy: tf.Tensor2D, saved: tf.Tensor[], mode: HeadMode): tf.Tensor2D[] {
  const [rows, matrix, targets, kept] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D, tf.Tensor2D | undefined];
  const logProbs = kept ?? logSoftmax(tf.matMul<tf.Tensor2D>(rows, matrix, false, true));
  const probabilities = tf.exp(logProbs);
  const [dLogProb, dEntropy] = (mode.withEntropy ? tf.split(dy, 2, 1) : [dy]) as [tf.Tensor2D, tf.Tensor2D?];
  const scaledRows = tf.mul<tf.Tensor2D>(rows, dLogProb);
  const toTargets = tf.unsortedSegmentSum<tf.Tensor2D>(scaledRows, targets, matrix.shape[0]);
  const targetRows = tf.gather(matrix, targets);
  if (!dEntropy) {
    // dy is one number per row, so it multiplies [N, hiddenSize] instead of [N, vocabSize].
    const mean = tf.matMul<tf.Tensor2D>(probabilities, matrix);
    const dMatrix = tf.add<tf.Tensor2D>(toTargets, tf.matMul(probabilities, tf.neg(scaledRows), true));
    return [tf.mul(tf.sub(targetRows, mean), dLogProb), dMatrix];
  }
  const pull = tf.mul<tf.Tensor2D>(
    probabilities,
    tf.add(tf.mul(tf.add(logProbs, entropy(logProbs)), dEntropy), dLogProb),
  );
  return [
    tf.sub(tf.mul(targetRows, dLogProb), tf.matMul(pull, matrix)),
    tf.add(toTargets, tf.matMul(pull, tf.neg(rows), true)),
  ];
}

/**
 * The same under an output layer that is not trained. Its gradient to the rows is linear in dy row by row, so the slopes,
 *
 *   ∂log π(a)/∂x = W[a] − π W        ∂H/∂x = −(π · (log π + H)) W
 *
 * are made on the way forward, and nothing of `[N, vocabSize]` is kept or made twice.
 */
function fixedHeadStatistics(
  hidden: tf.Tensor2D,
  head: tf.Tensor2D,
  targets: tf.Tensor1D,
  withEntropy: boolean,
): tf.Tensor2D {
  const logProbsOf = (rows: tf.Tensor2D): tf.Tensor2D => logSoftmax(tf.matMul<tf.Tensor2D>(rows, head, false, true));
  if (!isDifferentiating()) return chosenAndEntropy(logProbsOf(hidden), targets, withEntropy);
  const operation = tf.customGrad((...all) => {
    const [rows, save] = all as unknown as [tf.Tensor2D, tf.GradSaveFunc];
    const logProbs = logProbsOf(rows);
    const probabilities = tf.exp(logProbs);
    const slopes = [tf.sub<tf.Tensor2D>(tf.gather(head, targets), tf.matMul(probabilities, head))];
    if (withEntropy) {
      const weighted = tf.mul<tf.Tensor2D>(probabilities, tf.add(logProbs, entropy(logProbs)));
      slopes.push(tf.neg(tf.matMul<tf.Tensor2D>(weighted, head)));
    }
    save(slopes);
    return {
      value: chosenAndEntropy(logProbs, targets, withEntropy),
      gradFunc: (dy, saved) => {
        const parts = saved.length === 1 ? [dy] : tf.split(dy, 2, 1);
        return saved.map((slope, i) => tf.mul(slope, parts[i]!)).reduce((sum, part) => tf.add(sum, part));
      },
    };
  });
  return operation(hidden) as tf.Tensor2D;
}

/** Whether what is computed now may be differentiated. Slopes cost a product with the output layer, in vain where they are not. */
function isDifferentiating(): boolean {
  return tf.engine().state.gradientDepth > 0;
}

function chosenAndEntropy(logProbs: tf.Tensor2D, targets: tf.Tensor1D, withEntropy: boolean): tf.Tensor2D {
  const [rows, vocabulary] = logProbs.shape;
  const starts = Int32Array.from({ length: rows }, (_, i) => i * vocabulary);
  const places = tf.add<tf.Tensor1D>(targets, tf.tensor1d(starts, 'int32'));
  const chosen = tf.reshape<tf.Rank.R2>(tf.gather(tf.reshape(logProbs, [-1]), places), [rows, 1]);
  return withEntropy ? tf.concat2d([chosen, entropy(logProbs)], 1) : chosen;
}

/** One operation where the backend has it. */
export function logSoftmax(z: tf.Tensor2D): tf.Tensor2D {
  if (tf.getKernel('LogSoftmax', tf.getBackend())) {
    return tf.engine().runKernel('LogSoftmax', { logits: z }, { axis: -1 }) as tf.Tensor2D;
  }
  const shifted = tf.sub(z, tf.max(z, 1, true));
  return tf.sub(shifted, tf.log(tf.sum(tf.exp(shifted), 1, true)));
}

export function entropy(logProbs: tf.Tensor2D): tf.Tensor2D {
  return tf.neg(tf.sum<tf.Tensor2D>(tf.mul(tf.exp(logProbs), logProbs), 1, true));
}
