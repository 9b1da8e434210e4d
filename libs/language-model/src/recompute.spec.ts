import * as tf from '@tensorflow/tfjs';
import { initLora } from './lora';
import { mulberry32 } from './random';
import { ids, largestDifference, madeWeights, smallConfig, toTensors } from './testing/models';
import { tokenLogProbs } from './token-log-probs';

const config = { ...smallConfig, layers: 5 };
const tokens = ids([
  [7, 0, 22, 7, 3, 1, 1, 2],
  [19, 11, 5, 5, 14, 0, 0, 3],
]);
const targets = ids([
  [0, 22, 7, 3, 1, 1, 2, 9],
  [11, 5, 5, 14, 2, 0, 3, 1],
]);
const attentionMask = ids([
  [1, 1, 1, 1, 1, 1, 1, 1],
  [0, 0, 1, 1, 1, 1, 1, 1],
]);

beforeAll(() => tf.setBackend('cpu'));

/** Value, gradients and peak memory of the mean log-prob, by the adapter or by all weights. */
async function run(mode: 'lora' | 'full', recompute: boolean) {
  const weights = toTensors(madeWeights(config));
  const uniform = mulberry32(2);
  const adapter = initLora(config, { rank: 2, alpha: 2, seed: 1 });
  for (const { data } of adapter.values()) data.set(Array.from(data, () => uniform() - 0.5));
  const trained = mode === 'lora' ? toTensors(adapter) : weights;
  const names = Object.keys(trained);
  const loss = (...all: tf.Tensor[]): tf.Scalar => {
    const changed = Object.fromEntries(names.map((name, i) => [name, all[i] as tf.Tensor]));
    const options = { attentionMask, recompute };
    if (mode === 'full') return tf.mean(tokenLogProbs(config, changed, tokens, targets, options));
    return tf.mean(
      tokenLogProbs(config, weights, tokens, targets, { ...options, lora: { weights: changed, scale: 1 } }),
    );
  };
  const before = tf.memory();
  const profile = await tf.profile(() => {
    const { value, grads } = tf.valueAndGrads(loss)(names.map((name) => trained[name] as tf.Tensor));
    return [value, ...grads];
  });
  const results = (profile.result as tf.Tensor[]).map((tensor) => tensor.dataSync());
  return {
    results,
    peakBytes: profile.peakBytes - before.numBytes,
    kept: tf.memory().numTensors - before.numTensors - results.length,
  };
}

it.each(['lora', 'full'] as const)('gives the same gradients in less memory (%s)', async (mode) => {
  const plain = await run(mode, false);
  const lean = await run(mode, true);
  expect(lean.results).toHaveLength(plain.results.length);
  for (const [i, values] of lean.results.entries())
    expect(largestDifference(values, plain.results[i] as Float32Array)).toBeLessThan(1e-6);
  expect(lean.peakBytes).toBeLessThan(0.6 * plain.peakBytes);
  expect([plain.kept, lean.kept]).toEqual([0, 0]);
});
