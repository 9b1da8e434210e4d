import * as tf from '@tensorflow/tfjs';
import { candidateLogProbs } from './candidate-log-probs';
import type { LlamaConfig } from './config';
import { initLora } from './lora';
import { dropoutKeys } from './lora-dropout';
import { loraTargets } from './lora';
import type { NeededRows } from './needed-rows';
import { mulberry32 } from './random';
import { ids, largestDifference, madeWeights, smallConfig, toTensors } from './testing/models';
import { tokenLogProbs, tokenLogProbsAndEntropies, type LogProbOptions } from './token-log-probs';

const tokens = ids([
  [7, 0, 22, 7, 3, 1, 1, 2],
  [19, 11, 5, 5, 14, 0, 0, 3],
]);
const targets = ids([
  [0, 22, 7, 3, 1, 1, 2, 9],
  [11, 5, 5, 14, 2, 0, 3, 1],
]);
/** Weights of the loss: only these positions count. */
const counted = tf.tensor2d([
  [0, 0, 0, 0, 0, 0.3, 0.2, 0.1],
  [0, 0, 0, 0.5, 0.25, 0, 0, 0],
]);
const needed: NeededRows = {
  rows: tf.tensor1d([5, 6, 7, 11, 12, 0, 0], 'int32'),
  places: tf.tensor1d([6, 6, 6, 6, 6, 0, 1, 2, 6, 6, 6, 3, 4, 6, 6, 6], 'int32'),
};

type Statistic = (config: LlamaConfig, weights: Record<string, tf.Tensor>, options: LogProbOptions) => tf.Tensor2D;

const statistics: Record<string, Statistic> = {
  'log-probs': (config, weights, options) => tokenLogProbs(config, weights, tokens, targets, options),
  'log-probs in chunks': (config, weights, options) =>
    tokenLogProbs(config, weights, tokens, targets, { ...options, logitChunk: 2 * config.vocabSize }),
  'log-probs and entropies': (config, weights, options) => {
    const { logProbs, entropies } = tokenLogProbsAndEntropies(config, weights, tokens, targets, options);
    return tf.add(logProbs, tf.mul(entropies, 0.3));
  },
  'candidates and entropies': (config, weights, options) => {
    const candidates = tf.stack([targets, tokens], 2) as tf.Tensor3D;
    const { logProbs, entropies } = candidateLogProbs(config, weights, tokens, candidates, options);
    return tf.add(tf.sum<tf.Tensor2D>(tf.mul(logProbs, tf.tensor1d([1, -0.4])), 2), tf.mul(entropies, 0.3));
  },
};

const uniform = mulberry32(2);
const adapter = initLora(smallConfig, { rank: 2, alpha: 2, seed: 1 });
for (const { data } of adapter.values()) data.set(Array.from(data, () => uniform() - 0.5));

const dropout = {
  rate: 0.3,
  rows: tf.tensor2d(dropoutKeys(3, 16), [16, 2]),
  columns: Object.fromEntries(
    loraTargets(smallConfig).map(({ module, in: width }, i) => [
      module,
      tf.tensor2d(dropoutKeys(4 + i, width), [width, 2]),
    ]),
  ),
};

interface Mode {
  readonly config?: Partial<LlamaConfig>;
  readonly lora?: 'plain' | 'dropout';
  readonly recompute?: boolean;
}

/** The statistic, the weighted sum of it, and that sum's gradients to whatever is trained. */
function run(
  statistic: Statistic,
  mode: Mode,
  options: LogProbOptions,
): { values: Float32Array; grads: Float32Array[] } {
  return tf.tidy(() => {
    const config = { ...smallConfig, ...mode.config };
    const weights = toTensors(madeWeights(config));
    const trained = mode.lora ? toTensors(adapter) : weights;
    const names = Object.keys(trained);
    let values: Float32Array | null = null;
    const loss = (...all: tf.Tensor[]): tf.Scalar => {
      const changed = Object.fromEntries(names.map((name, i) => [name, all[i] as tf.Tensor]));
      const lora = { weights: changed, scale: 1, ...(mode.lora === 'dropout' && { dropout }) };
      const own = { ...options, recompute: mode.recompute === true, ...(mode.lora && { lora }) };
      const result = statistic(config, mode.lora ? weights : changed, own);
      values = result.dataSync() as Float32Array;
      return tf.sum(tf.mul(result, counted));
    };
    const { grads } = tf.valueAndGrads(loss)(names.map((name) => trained[name] as tf.Tensor));
    return { values: values!, grads: grads.map((grad) => grad.dataSync() as Float32Array) };
  });
}

beforeAll(() => tf.setBackend('cpu'));

describe.each(Object.entries(statistics))('%s of the needed rows alone', (_, statistic) => {
  it.each<[string, Mode]>([
    ['of all weights', {}],
    ['with a tied head', { config: { tieWordEmbeddings: true } }],
    ['of Qwen3 with biases', { config: { architecture: 'qwen3', queryKeyNorm: true, attentionBias: true } }],
    ['of one layer', { config: { layers: 1 } }],
    ['of an adapter', { lora: 'plain' }],
    ['of an adapter with dropout', { lora: 'dropout' }],
    ['with activations made again', { recompute: true }],
    ['of an adapter with activations made again', { lora: 'plain', recompute: true }],
  ])('are those of all rows, gradients too: %s', (__, mode) => {
    const whole = run(statistic, mode, {});
    const part = run(statistic, mode, { needed });
    counted.dataSync().forEach((weight, i) => {
      if (weight !== 0) expect(part.values[i]).toBeCloseTo(whole.values[i]!, 5);
      expect(part.values[i]).toBeLessThan(10);
    });
    expect(part.grads).toHaveLength(whole.grads.length);
    part.grads.forEach((grad, i) => expect(largestDifference(grad, whole.grads[i]!)).toBeLessThan(2e-6));
  });
});
