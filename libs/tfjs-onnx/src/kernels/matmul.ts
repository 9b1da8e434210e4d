import type * as tf from '@tensorflow/tfjs';
import { broadcastShapes, dimAt, type Recorded, type Recording } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/**
 * Batched matrix product; batch dimensions broadcast. tfjs' gradient of a product with broadcast batch dimensions has the wrong shape
 * and is refused by tfjs itself; reshape to two dimensions instead ([B, T, d] to [B·T, d]), which is also faster.
 */
const batchMatMul: Kernel = (recording, inputs, attrs) => {
  const { transposeA, transposeB } = attrs as tf.BatchMatMulAttrs;
  const a = required(inputs, 'a');
  const b = required(inputs, 'b');
  const [rows, inner] = orientedSizes(a, transposeA);
  const [innerB, columns] = orientedSizes(b, transposeB);
  if (inner !== innerB) throw new RangeError(`matMul: inner sizes ${inner} and ${innerB} differ`);
  const shape = [...broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns];
  if (recording.isForCpu && a.dtype === 'float32') {
    const flags = { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0 };
    return recording.op('com.microsoft.FusedMatMul', [a, b], 'float32', shape, flags);
  }
  return recording.op('MatMul', [turned(recording, a, transposeA), turned(recording, b, transposeB)], a.dtype, shape);
};

/** Rows and columns of a matrix as the product takes it. */
function orientedSizes(tensor: Recorded, isTransposed: boolean): [number, number] {
  assertType('MatMul', tensor, 'float32', 'int32');
  const rank = tensor.shape.length;
  const sizes: [number, number] = [dimAt(tensor.shape, rank - 2), dimAt(tensor.shape, rank - 1)];
  return isTransposed ? [sizes[1], sizes[0]] : sizes;
}

function turned(recording: Recording, tensor: Recorded, isTransposed: boolean): Recorded {
  if (!isTransposed) return tensor;
  const rank = tensor.shape.length;
  const perm = tensor.shape.map((_, axis) => axis);
  return recording.transpose(tensor, perm.with(rank - 1, rank - 2).with(rank - 2, rank - 1));
}

export const matmulKernels: Readonly<Record<string, Kernel>> = { BatchMatMul: batchMatMul };
