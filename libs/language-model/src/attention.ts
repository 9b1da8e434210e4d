import * as tf from '@tensorflow/tfjs';

/**
 * softmax(q kᵀ + bias) v: queries `[B, heads, T, headDim]`, keys and values `[B, kvHeads, K, headDim]`, bias `[1 or B, 1, T, K]`. The bias
 * is a constant: no gradient goes back to it.
 */
export function mix(queries: tf.Tensor4D, keys: tf.Tensor4D, values: tf.Tensor4D, bias: tf.Tensor4D): tf.Tensor4D {
  return mixInBlocks(queries, keys, values, bias, 1);
}

/**
 * The same for a whole sequence, block of queries by block: a block sees no key after its own end, so none is multiplied. With
 * P = softmax(q kᵀ + bias), O = P v and the gradient dO,
 *
 *   ∂v = Pᵀ dO    S = P ∘ (dO vᵀ − Σ dO ∘ O)    ∂q = S k    ∂k = Sᵀ q
 *
 * The sum that the softmax's gradient subtracts from a row of `[T, K]` is made of a row of `[T, headDim]` (Dao et al. 2022,
 * arXiv:2205.14135, appendix B.2): two passes over the large matrix instead of four.
 *
 * @param blocks of one size: it divides T, and where there are several, T = K
 */
export function mixInBlocks(
  queries: tf.Tensor4D,
  keys: tf.Tensor4D,
  values: tf.Tensor4D,
  bias: tf.Tensor4D,
  blocks: number,
): tf.Tensor4D {
  const operation = tf.customGrad((...all) => {
    const [q, k, v, save] = all as unknown as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.GradSaveFunc];
    const probabilities = inBlocks(q, blocks).map((block, i) =>
      probabilitiesOf(block, seenKeys(k, blocks, i), seenBias(bias, blocks, i)),
    );
    const value = concatOf(probabilities.map((p, i) => unfolded(tf.matMul(p, folded(seenKeys(v, blocks, i), v)), q)));
    save([q, k, v, value, ...probabilities]);
    return {
      value,
      gradFunc: (dy, saved) => {
        const [ours, theirs, contents, result, ...kept] = saved as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
        const rowSums = tf.sum<tf.Tensor4D>(tf.mul(dy as tf.Tensor4D, result), -1, true);
        return mixGradients(dy as tf.Tensor4D, rowSums, [ours, theirs, contents], kept as tf.Tensor3D[]);
      },
    };
  });
  return operation(queries, keys, values) as tf.Tensor4D;
}

/**
 * The same of a whole sequence from its beginning, without padding: a query sees the keys up to its own place. By position: queries
 * `[B, T, heads, headDim]`, keys and values `[B, T, kvHeads, headDim]`, the result like the queries.
 *
 * @returns `null` where the backend has no operation for it, or none for heads of that width
 */
export function causalMix(queries: tf.Tensor4D, keys: tf.Tensor4D, values: tf.Tensor4D): tf.Tensor4D | null {
  if (!tf.getKernel('CausalAttention', tf.getBackend()) || queries.shape[3] % 8 !== 0) return null;
  const operation = tf.customGrad((...all) => {
    const [q, k, v, save] = all as unknown as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.GradSaveFunc];
    const inputs = { queries: q, keys: k, values: v };
    const [value, ...parts] = tf.engine().runKernel('CausalAttention', inputs) as [tf.Tensor4D, ...tf.Tensor4D[]];
    save([q, value, ...parts]);
    return { value, gradFunc: (dy, saved) => causalGradients(dy as tf.Tensor4D, saved as tf.Tensor4D[]) };
  });
  return operation(queries, keys, values) as tf.Tensor4D;
}

/** @param saved queries and O by position, then P, keys and values by head */
function causalGradients(dy: tf.Tensor4D, saved: tf.Tensor4D[]): tf.Tensor4D[] {
  const [queries, value, p, keys, values] = saved as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
  // Turned without an axis of one number, which onnxruntime would move number by number.
  const rowSums = tf.transpose(tf.sum<tf.Tensor3D>(tf.mul(dy, value), -1), [0, 2, 1]);
  const [q, dOutput] = [queries, dy].map(otherOrder) as [tf.Tensor4D, tf.Tensor4D];
  const sums = tf.expandDims<tf.Tensor4D>(rowSums, 3);
  return mixGradients(dOutput, sums, [q, keys, values], [folded(p, keys)]).map(otherOrder);
}

/** From positions and heads to heads and positions, and back. */
const otherOrder = (x: tf.Tensor4D): tf.Tensor4D => tf.transpose(x, [0, 2, 1, 3]);

/** P of one block of queries and the keys that it sees, folded: `[B·kvHeads, heads/kvHeads·T, K]`. */
function probabilitiesOf(queries: tf.Tensor4D, keys: tf.Tensor4D, bias: tf.Tensor4D): tf.Tensor3D {
  const [batch, heads, length] = queries.shape;
  const scores = tf.matMul(folded(queries, keys), folded(keys, keys), false, true);
  const biased = tf.add<tf.Tensor4D>(tf.reshape(scores, [batch, heads, length, keys.shape[2]]), bias);
  return folded(tf.softmax(biased), keys);
}

/**
 * @param dy dO, of the shape of the queries
 * @param sums Σ dO ∘ O, `[B, heads, T, 1]`
 * @param operands queries, keys and values
 * @param probabilities P of each block
 * @returns ∂q, ∂k, ∂v
 */
function mixGradients(
  dy: tf.Tensor4D,
  sums: tf.Tensor4D,
  [q, k, v]: readonly [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D],
  probabilities: readonly tf.Tensor3D[],
): tf.Tensor4D[] {
  const blocks = probabilities.length;
  const rowSums = inBlocks(sums, blocks);
  const dOutputs = inBlocks(dy, blocks);
  const dQueries: tf.Tensor4D[] = [];
  const dKeys: tf.Tensor4D[] = [];
  const dValues: tf.Tensor4D[] = [];
  inBlocks(q, blocks).forEach((block, i) => {
    const p = probabilities[i]!;
    const dOutput = folded(dOutputs[i]!, k);
    const dProbabilities = tf.matMul(dOutput, folded(seenKeys(v, blocks, i), v), false, true);
    const dScores = tf.mul<tf.Tensor3D>(p, tf.sub(dProbabilities, folded(rowSums[i]!, k)));
    dQueries.push(unfolded(tf.matMul(dScores, folded(seenKeys(k, blocks, i), k)), q));
    dKeys.push(unfolded(tf.matMul(dScores, folded(block, k), true), k));
    dValues.push(unfolded(tf.matMul(p, dOutput, true), v));
  });
  return [concatOf(dQueries), sumOfBeginnings(dKeys), sumOfBeginnings(dValues)];
}

/** `[B, heads, length, width]` to `[B·kvHeads, heads/kvHeads·length, width]`: heads that share a key head are rows of one matrix. */
function folded(x: tf.Tensor4D, { shape: [batch, kvHeads] }: tf.Tensor4D): tf.Tensor3D {
  return tf.reshape(x, [batch * kvHeads, -1, x.shape[3]]);
}

/** Back to the batch and heads of another tensor. */
function unfolded(x: tf.Tensor3D, { shape: [batch, heads] }: tf.Tensor4D): tf.Tensor4D {
  return tf.reshape(x, [batch, heads, -1, x.shape[2]]);
}

const inBlocks = (x: tf.Tensor4D, blocks: number): tf.Tensor4D[] =>
  blocks === 1 ? [x] : (tf.split(x, blocks, 2) as tf.Tensor4D[]);

const concatOf = (parts: tf.Tensor4D[]): tf.Tensor4D => (parts.length === 1 ? parts[0]! : tf.concat(parts, 2));

/** What the i-th block of queries sees of keys or values. */
function seenKeys(x: tf.Tensor4D, blocks: number, i: number): tf.Tensor4D {
  return i === blocks - 1 ? x : tf.slice(x, [0, 0, 0, 0], [-1, -1, ((i + 1) * x.shape[2]) / blocks, -1]);
}

/** The rows of the i-th block of queries, for the keys that it sees. */
function seenBias(bias: tf.Tensor4D, blocks: number, i: number): tf.Tensor4D {
  if (blocks === 1) return bias;
  const size = bias.shape[2] / blocks;
  return tf.slice(bias, [0, 0, i * size, 0], [-1, -1, size, (i + 1) * size]);
}

/** The sum of tensors of which the i-th reaches over the first i + 1 blocks. */
function sumOfBeginnings(parts: tf.Tensor4D[]): tf.Tensor4D {
  const pieces = parts.map((part, i) => inBlocks(part, i + 1));
  return concatOf(
    parts.map((_, at) =>
      pieces
        .slice(at)
        .map((piece) => piece[at]!)
        .reduce((sum, x) => tf.add(sum, x)),
    ),
  );
}

/** Blocks of equal size, none shorter than 128, at most four: n of them leave out (n − 1) / 2n of the products. */
export function causalBlocks(length: number): number {
  return [4, 3, 2].find((blocks) => length % blocks === 0 && length / blocks >= 128) ?? 1;
}
