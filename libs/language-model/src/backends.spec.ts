import { CompiledFunction, type HostTensor as GraphTensor } from '@hindcast/tfjs-onnx';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import { float32Tensor, type HostTensor } from './host-tensor';
import { initLora } from './lora';
import { mulberry32 } from './random';
import { largestDifference, madeWeights, smallConfig, toTensors } from './testing/models';
import { tokenLogProbsAndEntropies } from './token-log-probs';

const config = smallConfig;
const int32 = (shape: number[], values: number[]): HostTensor => ({
  dtype: 'int32',
  shape,
  data: Int32Array.from(values),
});

/** Log-probs, entropies and the adapter's gradients of a padded batch, from tensors of any backend. */
function step(
  inputs: Record<string, tf.Tensor>,
  options: { recompute: boolean; logitChunk: number },
): Record<string, tf.Tensor> {
  const [adapted, base] = [true, false].map((isAdapter) =>
    Object.fromEntries(
      Object.entries(inputs).filter(([name]) => name.includes('.') && name.includes('lora_') === isAdapter),
    ),
  ) as [Record<string, tf.Tensor>, Record<string, tf.Tensor>];
  const { tokens, targets, attentionMask } = inputs as Record<string, tf.Tensor2D> &
    Record<'tokens' | 'targets' | 'attentionMask', tf.Tensor2D>;
  const names = Object.keys(adapted);
  const outputs: Record<string, tf.Tensor> = {};
  const loss = (...all: tf.Tensor[]): tf.Scalar => {
    const weights = Object.fromEntries(names.map((name, i) => [name, all[i] as tf.Tensor]));
    const { logProbs, entropies } = tokenLogProbsAndEntropies(config, base, tokens, targets, {
      ...options,
      attentionMask,
      lora: { weights, scale: 2 },
    });
    outputs['logProbs'] = tf.keep(logProbs);
    outputs['entropies'] = tf.keep(entropies);
    return tf.sum(tf.mul(tf.add(logProbs, entropies), tf.cast(attentionMask, 'float32')));
  };
  const grads = tf.grads(loss)(names.map((name) => adapted[name] as tf.Tensor));
  return { ...outputs, ...Object.fromEntries(names.map((name, i) => [name, grads[i] as tf.Tensor])) };
}

const readAll = (tensors: Record<string, tf.Tensor>): Record<string, ArrayLike<number>> =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tensor.dataSync()]));

it.each([
  { recompute: false, logitChunk: 2 ** 24 },
  { recompute: true, logitChunk: 70 },
])('recorded as one ONNX graph, or run by wasm, gives the numbers of the cpu backend (%o)', async (options) => {
  const uniform = mulberry32(3);
  const adapter = initLora(config, { rank: 2, alpha: 4, seed: 1 });
  const inputs = new Map<string, HostTensor>([
    ...madeWeights(config),
    ...[...adapter].map(([name, { shape, data }]): [string, HostTensor] => [
      name,
      float32Tensor(
        shape,
        Float32Array.from(data, () => uniform() - 0.5),
      ),
    ]),
    ['tokens', int32([2, 5], [7, 0, 22, 7, 3, 19, 11, 5, 5, 14])],
    ['targets', int32([2, 5], [0, 22, 7, 3, 1, 11, 5, 5, 14, 2])],
    ['attentionMask', int32([2, 5], [1, 1, 1, 1, 1, 0, 0, 1, 1, 1])],
  ]);
  await tf.setBackend('cpu');
  const expected = readAll(step(toTensors(inputs), options));
  await tf.setBackend('wasm');
  const onWasm = readAll(step(toTensors(inputs), options));
  const graph = new CompiledFunction((symbolic) => step(symbolic, options), { threads: 1 });
  const results: Record<string, GraphTensor> = await graph.run(Object.fromEntries(inputs));
  await graph.dispose();
  expect(Object.keys(results).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, values] of Object.entries(expected)) {
    expect(largestDifference(results[name]?.data ?? [], values)).toBeLessThan(2e-5);
    expect(largestDifference(onWasm[name] ?? [], values)).toBeLessThan(2e-5);
  }
});
