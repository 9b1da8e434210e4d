import type * as tf from '@tensorflow/tfjs';
import { broadcastShapes, dimAt, type Recorded, type Recording } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/**
 * Batched matrix product; batch dimensions broadcast. Transposes are nodes of their own, which onnxruntime fuses.
 * tfjs' gradient of a product with broadcast batch dimensions has the wrong shape and is refused by tfjs itself; reshape
 * to two dimensions instead ([B, T, d] to [B·T, d]), which is also faster.
 */
const batchMatMul: Kernel = (recording, inputs, attrs) => {
  const { transposeA, transposeB } = attrs as tf.BatchMatMulAttrs;
  const a = oriented(recording, required(inputs, 'a'), transposeA);
  const b = oriented(recording, required(inputs, 'b'), transposeB);
  const [rows, inner] = a.shape.slice(-2) as [number, number];
  const [innerB, columns] = b.shape.slice(-2) as [number, number];
  if (inner !== innerB) throw new RangeError(`matMul: inner sizes ${inner} and ${innerB} differ`);
  const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2));
  return recording.op('MatMul', [a, b], a.dtype, [...batch, rows, columns]);
};

function oriented(recording: Recording, tensor: Recorded, isTransposed: boolean): Recorded {
  assertType('MatMul', tensor, 'float32', 'int32');
  if (!isTransposed) return tensor;
  const rank = tensor.shape.length;
  dimAt(tensor.shape, rank - 2);
  const perm = tensor.shape.map((_, axis) => axis);
  return recording.transpose(tensor, perm.with(rank - 1, rank - 2).with(rank - 2, rank - 1));
}

export const matmulKernels: Readonly<Record<string, Kernel>> = { BatchMatMul: batchMatMul };
