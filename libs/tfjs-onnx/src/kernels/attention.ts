import type { OnnxValue } from '../onnx-graph';
import { dimAt, type Recorded } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/** A value of the operator's attribute qk_output. */
const AFTER_SOFTMAX = 2;

/**
 * Causal attention, P v with P = softmax(q kᵀ): queries `[B, T, heads, D]`, keys and values `[B, T, kvHeads, D]`, D a multiple of 8. tfjs has
 * no such operator; who has this kernel may run it in place of a dozen. Gives P v `[B, T, heads, D]`, and for its gradient P
 * `[B, heads, T, T]` and keys and values by head, `[B, kvHeads, T, D]`.
 *
 * onnxruntime's contrib operator com.microsoft.GroupQueryAttention, with an output that its CPU provider alone has. Its P is exactly 0 where a
 * query must not see a key. Softmax of a hugely negative score gives a denormal number there, which it is slow to make and slow to use.
 */
const causalAttention: Kernel = (recording, inputs) => {
  const { graph } = recording;
  const operands = ['queries', 'keys', 'values'].map((name) => required(inputs, name));
  for (const tensor of operands) {
    assertType('CausalAttention', tensor, 'float32');
    if (tensor.shape.length !== 4)
      throw new RangeError(`CausalAttention of shape [${tensor.shape.join()}], not [B, T, heads, D]`);
  }
  const [queries, keys] = operands as [Recorded, Recorded];
  const [batch, length, heads, width] = queries.shape as [number, number, number, number];
  const kvHeads = dimAt(keys.shape, 2);
  const rows = operands.map((x) => recording.full(recording.reshape(x, [batch, length, dimAt(x.shape, 2) * width])));
  const lastPlace = graph.constant(new Int32Array(batch).fill(length - 1), [batch]);
  const [result, allKeys, allValues, probabilities] = graph.ops(
    'com.microsoft.GroupQueryAttention',
    // No keys and values of before.
    [...rows, null, null, lastPlace, graph.constant(Int32Array.of(length))],
    4,
    { num_heads: heads, kv_num_heads: kvHeads, scale: { float: 1 }, qk_output: AFTER_SOFTMAX },
  ) as [OnnxValue, OnnxValue, OnnxValue, OnnxValue];
  return [
    recording.reshape(recording.symbolic(result, 'float32', [batch, length, heads * width]), queries.shape),
    recording.symbolic(probabilities, 'float32', [batch, heads, length, length]),
    recording.symbolic(allKeys, 'float32', [batch, kvHeads, length, width]),
    recording.symbolic(allValues, 'float32', [batch, kvHeads, length, width]),
  ];
};

/** Kernels of operators that onnxruntime's CPU provider alone has. */
export const cpuAttentionKernels: Readonly<Record<string, Kernel>> = { CausalAttention: causalAttention };
