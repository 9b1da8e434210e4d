import * as tf from '@tensorflow/tfjs';
import type { LlamaConfig } from './config';
import type { Weights } from './linear';
import { chunkSizes, entropy, LOGIT_CHUNK, logSoftmax, type LogProbOptions } from './token-log-probs';
import { spreadOut } from './needed-rows';
import { forwardRows, outputMatrix } from './transformer';

export interface CandidateLogProbs {
  /** `[B, T, C]` nats. */
  readonly logProbs: tf.Tensor3D;
  /** H of each distribution, −Σ π log π, `[B, T]` nats. */
  readonly entropies: tf.Tensor2D;
}

/**
 * log π(c | tokens_≤t) of several given ids at every position, and the entropy there. Made chunk by chunk of tokens, as
 * `tokenLogProbs` does, so that `[B·T, vocabSize]` is never whole in memory.
 *
 * @param tokenIds     `[B, T]` int32
 * @param candidateIds `[B, T, C]` int32; padding may hold any valid id
 * @returns with gradients as `tokenLogProbs` has them
 */
export function candidateLogProbs(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  candidateIds: tf.Tensor3D,
  options: LogProbOptions = {},
): CandidateLogProbs {
  const [batch, length, count] = candidateIds.shape;
  return tf.tidy(() => {
    const { needed } = options;
    const hidden = forwardRows(config, weights, tokenIds, options);
    const all = tf.reshape<tf.Rank.R2>(candidateIds, [-1, count]);
    const ids = needed ? tf.gather(all, needed.rows) : all;
    const head = outputMatrix(config, weights);
    const limit = Math.max(1, Math.floor((options.logitChunk ?? LOGIT_CHUNK) / config.vocabSize));
    const sizes = chunkSizes(ids.shape[0], limit);
    // tfjs has no gradient of a split into one piece.
    const inChunks = (x: tf.Tensor2D): tf.Tensor2D[] =>
      sizes.length === 1 ? [x] : (tf.split(x, sizes, 0) as tf.Tensor2D[]);
    const rowChunks = inChunks(hidden);
    const idChunks = inChunks(ids);
    const chunks = rowChunks.map((rows, i) => headCandidates(rows, head, idChunks[i]!, options.lora !== undefined));
    const made = tf.concat2d(chunks, 0);
    const [logProbs, entropies] = tf.split(needed ? spreadOut(made, needed) : made, [count, 1], 1);
    return {
      logProbs: tf.reshape<tf.Rank.R3>(logProbs!, [batch, length, count]),
      entropies: tf.reshape<tf.Rank.R2>(entropies!, [batch, length]),
    };
  });
}

/**
 * Output layer, log-softmax and choice of the candidates as one operation with its own gradient, which makes the logits again. With
 * z = x Wᵀ, dₖ for log π(cₖ) and dH for the entropy H,
 *
 *   ∂log π(c)/∂z = onehot(c) − π        ∂H/∂z = −π · (log π + H)
 *   ∂x = Σₖ dₖ W[cₖ] + D W        ∂W = Σₖ dₖ · x at cₖ + Dᵀ x        D = −π · (Σₖ dₖ + (log π + H) · dH)
 *
 * so that no one-hot matrix is made.
 *
 * @returns `[N, C + 1]`: the log-probs, then the entropy
 */
function headCandidates(hidden: tf.Tensor2D, head: tf.Tensor2D, ids: tf.Tensor2D, isHeadFixed: boolean): tf.Tensor2D {
  const logProbsOf = (rows: tf.Tensor2D, matrix: tf.Tensor2D): tf.Tensor2D =>
    logSoftmax(tf.matMul<tf.Tensor2D>(rows, matrix, false, true));
  const operation = tf.customGrad((...all) => {
    const save = all.at(-1) as unknown as tf.GradSaveFunc;
    const [rows, matrix = head] = all.slice(0, -1) as [tf.Tensor2D, tf.Tensor2D?];
    save([rows, matrix, ids]);
    const logProbs = logProbsOf(rows, matrix);
    return {
      value: tf.concat2d([chosen(logProbs, ids), entropy(logProbs)], 1),
      gradFunc: (dy, saved) => {
        const [x, w, at] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
        return headGradients(dy as tf.Tensor2D, x, w, at, logProbsOf(x, w), isHeadFixed);
      },
    };
  });
  return (isHeadFixed ? operation(hidden) : operation(hidden, head)) as tf.Tensor2D;
}

function headGradients(
  dy: tf.Tensor2D,
  rows: tf.Tensor2D,
  matrix: tf.Tensor2D,
  ids: tf.Tensor2D,
  logProbs: tf.Tensor2D,
  isHeadFixed: boolean,
): tf.Tensor2D[] {
  const count = ids.shape[1];
  const [dLogProbs, dEntropy] = tf.split(dy, [count, 1], 1) as [tf.Tensor2D, tf.Tensor2D];
  const pull = tf.add(tf.sum(dLogProbs, 1, true), tf.mul(tf.add(logProbs, entropy(logProbs)), dEntropy));
  const spread = tf.neg(tf.mul<tf.Tensor2D>(tf.exp(logProbs), pull));
  const slopes = tf.split(dLogProbs, count, 1);
  const columns = tf.split(ids, count, 1).map((column) => tf.reshape<tf.Rank.R1>(column, [-1]));
  const toRows = tf.addN(columns.map((column, k) => tf.mul(tf.gather(matrix, column), slopes[k]!)));
  const dRows = tf.add<tf.Tensor2D>(toRows, tf.matMul(spread, matrix));
  if (isHeadFixed) return [dRows];
  const scaled = tf.concat2d(
    slopes.map((slope) => tf.mul<tf.Tensor2D>(rows, slope)),
    0,
  );
  const toMatrix = tf.unsortedSegmentSum<tf.Tensor2D>(scaled, tf.concat1d(columns), matrix.shape[0]);
  return [dRows, tf.add(toMatrix, tf.matMul(spread, rows, true))];
}

/** The entries of each row at its ids, `[N, C]`: one look-up in the flat array. */
function chosen(logProbs: tf.Tensor2D, ids: tf.Tensor2D): tf.Tensor2D {
  const [rows, vocabulary] = logProbs.shape;
  const starts = tf.tensor2d(
    Int32Array.from({ length: rows }, (_, i) => i * vocabulary),
    [rows, 1],
    'int32',
  );
  const places = tf.reshape(tf.add(ids, starts), [-1]);
  return tf.reshape(tf.gather(tf.reshape(logProbs, [-1]), places), ids.shape);
}
