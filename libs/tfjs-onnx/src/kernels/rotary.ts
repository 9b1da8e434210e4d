import { dimAt } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/**
 * Rotation of the halves of the last axis: with x = (a, b), (a, b) ↦ (a·cos − b·sin, b·cos + a·sin). x is `[B, T, heads, D]`, the tables
 * are `[1 or B, T, 1, D/2]`. tfjs has no such operation; who has this kernel may run it in place of six.
 *
 * onnxruntime's contrib operator com.microsoft.RotaryEmbedding, whose tables are rows of a cache and whose rows of heads are flat.
 */
const rotaryEmbedding: Kernel = (recording, inputs) => {
  const x = required(inputs, 'x');
  const cos = required(inputs, 'cos');
  const sin = required(inputs, 'sin');
  assertType('RotaryEmbedding', x, 'float32');
  const { graph } = recording;
  if (x.shape.length !== 4) throw new RangeError(`RotaryEmbedding of shape [${x.shape.join()}], not [B, T, heads, D]`);
  const [batch, length, heads, width] = x.shape as [number, number, number, number];
  const tables = dimAt(cos.shape, 0);
  // One position for all: rows 0 … T−1 of the cache in every sequence.
  const positions =
    tables === 1
      ? graph.int64(0)
      : graph.constant(
          BigInt64Array.from({ length: batch * length }, (_, i) => BigInt(i)),
          [batch, length],
        );
  const flat = recording.full(recording.reshape(x, [batch, length, heads * width]));
  const cache = [cos, sin].map((table) => recording.full(recording.reshape(table, [tables * length, width / 2])));
  const turned = graph.op('com.microsoft.RotaryEmbedding', [flat, positions, ...cache]);
  return recording.reshape(recording.symbolic(turned, 'float32', [batch, length, heads * width]), x.shape);
};

export const rotaryKernels: Readonly<Record<string, Kernel>> = { RotaryEmbedding: rotaryEmbedding };
