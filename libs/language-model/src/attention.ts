import * as tf from '@tensorflow/tfjs';

/** softmax(q kᵀ + bias) v: queries `[B, heads, T, headDim]`, keys and values `[B, kvHeads, K, headDim]`, bias `[1 or B, 1, T, K]`. */
export function mix(queries: tf.Tensor4D, keys: tf.Tensor4D, values: tf.Tensor4D, bias: tf.Tensor4D): tf.Tensor4D {
  const [batch, heads, length, headDim] = queries.shape;
  const [, kvHeads, keyCount] = keys.shape;
  const rows = (heads / kvHeads) * length;
  const fold = (x: tf.Tensor, count: number): tf.Tensor3D => tf.reshape(x, [batch * kvHeads, count, -1]);
  const scores = tf.matMul(fold(queries, rows), fold(keys, keyCount), false, true);
  const probabilities = tf.softmax(tf.add(tf.reshape(scores, [batch, heads, length, keyCount]), bias));
  return tf.reshape(tf.matMul(fold(probabilities, rows), fold(values, keyCount)), [batch, heads, length, headDim]);
}

/** The same for a whole sequence, block of queries by block: a block sees no key after its own end, so none is multiplied. */
export function mixInBlocks(
  queries: tf.Tensor4D,
  keys: tf.Tensor4D,
  values: tf.Tensor4D,
  bias: tf.Tensor4D,
  blocks: number,
): tf.Tensor4D {
  if (blocks === 1) return mix(queries, keys, values, bias);
  const size = queries.shape[2] / blocks;
  const upTo = (x: tf.Tensor4D, end: number): tf.Tensor4D =>
    end === x.shape[2] ? x : tf.slice(x, [0, 0, 0, 0], [-1, -1, end, -1]);
  const mixed = (tf.split(queries, blocks, 2) as tf.Tensor4D[]).map((block, i) => {
    const end = (i + 1) * size;
    const seen = tf.slice(bias, [0, 0, i * size, 0], [-1, -1, size, end]);
    return mix(block, upTo(keys, end), upTo(values, end), seen);
  });
  return tf.concat(mixed, 2);
}

/** Blocks of equal size, none shorter than 128, at most four: n of them leave out (n − 1) / 2n of the products. */
export function causalBlocks(length: number): number {
  return [4, 3, 2].find((blocks) => length % blocks === 0 && length / blocks >= 128) ?? 1;
}
