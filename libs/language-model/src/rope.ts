import * as tf from '@tensorflow/tfjs';
import type { LlamaConfig } from './config';

/** Tables for `rotate`, each `[1 or B, T, 1, headDim]`. */
export interface Rotation {
  readonly cos: tf.Tensor4D;
  readonly sin: tf.Tensor4D;
}

/**
 * Rotary position embedding (Su et al. 2021, arXiv:2104.09864) in the half-split layout of Hugging Face: number i of a head
 * turns together with number i + headDim/2, by the angle position · θ^(−2i/headDim).
 *
 * Both tables carry the factor headDim^(−1/4). Query and key are rotated with them, so their product already has the 1/√headDim of
 * scaled attention, without another operation on `[B, heads, T, T]`.
 *
 * @param positions `[B, T]` int32, each below `config.maxPositions`; without it, row t of every sequence is position `first` + t
 */
export function rotation(config: LlamaConfig, length: number, first: number, positions?: tf.Tensor2D): Rotation {
  const { headDim } = config;
  if (!positions) {
    const { cos, sin } = rotationTables(config, first, length);
    return { cos: tf.tensor4d(cos, [1, length, 1, headDim]), sin: tf.tensor4d(sin, [1, length, 1, headDim]) };
  }
  const [batch] = positions.shape;
  const { cos, sin } = rotationTables(config, 0, config.maxPositions);
  const rows = tf.reshape(positions, [-1]);
  const lookUp = (table: Float32Array): tf.Tensor4D =>
    tf.reshape(tf.gather(tf.tensor2d(table, [config.maxPositions, headDim]), rows), [batch, length, 1, headDim]);
  return { cos: lookUp(cos), sin: lookUp(sin) };
}

/**
 * Rotates heads, `[B, T, heads, headDim]`: (a, b) ↦ (a·cos − b·sin, b·cos + a·sin), times headDim^(−1/4). Its gradient is the rotation
 * back, with the same factor.
 */
export function rotate(heads: tf.Tensor4D, { cos, sin }: Rotation): tf.Tensor4D {
  const operation = tf.customGrad((...all) => {
    const [x, save] = all as unknown as [tf.Tensor4D, tf.GradSaveFunc];
    save([cos, sin]);
    return {
      value: turned(x, cos, sin),
      gradFunc: (dy, saved) => {
        const [c, s] = saved as [tf.Tensor4D, tf.Tensor4D];
        return turned(dy as tf.Tensor4D, c, tf.neg(s));
      },
    };
  });
  return operation(heads) as tf.Tensor4D;
}

/** Queries and keys rotated, each `[B, T, …, headDim]`. They turn by the same angles: together it is half the operations. */
export function rotateBoth(queries: tf.Tensor4D, keys: tf.Tensor4D, rotation: Rotation): [tf.Tensor4D, tf.Tensor4D] {
  if (hasRotation()) return [rotate(queries, rotation), rotate(keys, rotation)];
  const together = rotate(tf.concat([queries, keys], 2), rotation);
  return tf.split(together, [queries.shape[2], keys.shape[2]], 2) as [tf.Tensor4D, tf.Tensor4D];
}

/** Whether rotation is one operation here, which reads halves of the tables. */
function hasRotation(): boolean {
  return tf.getKernel('RotaryEmbedding', tf.getBackend()) !== undefined;
}

function turned(x: tf.Tensor4D, cos: tf.Tensor4D, sin: tf.Tensor4D): tf.Tensor4D {
  if (hasRotation()) {
    const half = x.shape[3] / 2;
    const secondHalf = (table: tf.Tensor4D): tf.Tensor4D => tf.slice(table, [0, 0, 0, half], [-1, -1, -1, half]);
    return tf.engine().runKernel('RotaryEmbedding', { x, cos: secondHalf(cos), sin: secondHalf(sin) }) as tf.Tensor4D;
  }
  const [first, second] = tf.split(x, 2, -1) as [tf.Tensor4D, tf.Tensor4D];
  return tf.add(tf.mul(x, cos), tf.mul(tf.concat([second, first], -1), sin));
}

// The minus sign of −b·sin sits in the first half of the sine table.
function rotationTables(config: LlamaConfig, first: number, length: number): { cos: Float32Array; sin: Float32Array } {
  const { headDim } = config;
  const half = headDim / 2;
  const cos = new Float32Array(length * headDim);
  const sin = new Float32Array(length * headDim);
  const scale = headDim ** -0.25;
  for (let i = 0; i < half; i++) {
    const frequency = rotationFrequency(config, i);
    for (let t = 0; t < length; t++) {
      const angle = (first + t) * frequency;
      const at = t * headDim + i;
      cos[at] = cos[at + half] = scale * Math.cos(angle);
      sin[at] = -scale * Math.sin(angle);
      sin[at + half] = scale * Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Radians per position of pair i; with Llama 3's scaling, by how often it turns within the original context. */
export function rotationFrequency({ headDim, ropeTheta, ropeScaling }: LlamaConfig, i: number): number {
  const frequency = ropeTheta ** ((-2 * i) / headDim);
  if (!ropeScaling) return frequency;
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalMaxPositions } = ropeScaling;
  const turns = (originalMaxPositions * frequency) / (2 * Math.PI);
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
  return kept * frequency + ((1 - kept) * frequency) / factor;
}
