import * as tf from '@tensorflow/tfjs';
import { type HostTensor } from './host-tensor';
import { initLora, loraModules, loraTargets, mergeLora } from './lora';
import { loraName, parseLoraName } from './lora-names';
import { mulberry32 } from './random';
import { ids, largestDifference, madeWeights, smallConfig, toTensors } from './testing/models';
import { tokenLogProbs } from './token-log-probs';
import { forwardHidden } from './transformer';

const config = smallConfig;
const settings = { rank: 3, alpha: 6, seed: 11 };
const scale = settings.alpha / settings.rank;
const tokens = ids([
  [7, 0, 22, 7, 3],
  [19, 11, 5, 5, 14],
]);
const targets = ids([
  [0, 22, 7, 3, 1],
  [11, 5, 5, 14, 2],
]);

/** An adapter whose B is not zero. */
function trained(): Map<string, HostTensor> {
  const uniform = mulberry32(1);
  const adapter = initLora(config, settings);
  for (const [name, { data }] of adapter)
    if (name.includes('lora_B')) data.set(Array.from(data, () => uniform() - 0.5));
  return adapter;
}

beforeAll(() => tf.setBackend('cpu'));

describe('a fresh adapter', () => {
  it('covers the seven matrices of every layer, with PEFT’s names and shapes', () => {
    const adapter = initLora(config, settings);
    expect(adapter.size).toBe(config.layers * 7 * 2);
    expect(adapter.get('base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight')?.shape).toEqual([3, 12]);
    expect(adapter.get('base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight')?.shape).toEqual([24, 3]);
    expect(adapter.get('base_model.model.model.layers.0.mlp.down_proj.lora_A.weight')?.shape).toEqual([3, 20]);
    expect(loraTargets(config, ['v_proj']).map(({ module }) => module)).toEqual([
      'model.layers.0.self_attn.v_proj',
      'model.layers.1.self_attn.v_proj',
    ]);
    expect(loraTargets(config)).toHaveLength(config.layers * loraModules.length);
  });

  it('has A uniform in ±1/√in and B zero, the same for the same seed', () => {
    const adapter = initLora(config, { ...settings, rank: 500, targetModules: ['q_proj'] });
    const a = adapter.get(loraName('model.layers.0.self_attn.q_proj', 'A'))?.data as Float32Array;
    const bound = 1 / Math.sqrt(12);
    expect(Math.max(...a)).toBeLessThanOrEqual(bound);
    const variance = a.reduce((sum, x) => sum + x * x, 0) / a.length;
    expect(variance / (bound ** 2 / 3)).toBeCloseTo(1, 1);
    expect(adapter.get(loraName('model.layers.0.self_attn.q_proj', 'B'))?.data.every((x) => x === 0)).toBe(true);
    expect(initLora(config, settings)).toEqual(initLora(config, settings));
    expect(initLora(config, { ...settings, seed: 12 })).not.toEqual(initLora(config, settings));
  });

  it('changes nothing', () => {
    const weights = toTensors(madeWeights(config));
    const lora = { weights: toTensors(initLora(config, settings)), scale };
    const plain = forwardHidden(config, weights, tokens).dataSync();
    expect(largestDifference(forwardHidden(config, weights, tokens, { lora }).dataSync(), plain)).toBe(0);
  });
});

describe('a trained adapter', () => {
  it('beside the weights is the same as merged into them', () => {
    const base = madeWeights(config);
    const adapter = trained();
    const beside = tokenLogProbs(config, toTensors(base), tokens, targets, {
      lora: { weights: toTensors(adapter), scale },
    });
    const merged = tokenLogProbs(config, toTensors(mergeLora(base, adapter, scale)), tokens, targets);
    const plain = tokenLogProbs(config, toTensors(base), tokens, targets);
    expect(largestDifference(beside.dataSync(), merged.dataSync())).toBeLessThan(1e-5);
    expect(largestDifference(beside.dataSync(), plain.dataSync())).toBeGreaterThan(0.1);
    expect(base).toEqual(madeWeights(config));
  });

  it('has gradients in every A and B that finite differences confirm', () => {
    const weights = toTensors(madeWeights(config));
    const adapter = toTensors(trained());
    const names = Object.keys(adapter);
    const loss = (...parts: tf.Tensor[]): tf.Scalar => {
      const lora = { weights: Object.fromEntries(names.map((name, i) => [name, parts[i] as tf.Tensor])), scale };
      return tf.mean(tokenLogProbs(config, weights, tokens, targets, { lora, logitChunk: 100 }));
    };
    const parts = names.map((name) => adapter[name] as tf.Tensor);
    const gradients = tf.grads(loss)(parts);
    const step = 2e-2;
    // Along its own gradient g, the loss changes by step·|g|: one number checks a whole matrix. Central, so the error is of order step².
    for (const [i, gradient] of gradients.entries()) {
      const length = tf.norm(gradient).dataSync()[0] as number;
      expect(length).toBeGreaterThan(1e-4);
      const at = (distance: number): number => {
        const moved = parts.map((part, j) => (i === j ? tf.add(part, tf.mul(gradient, distance / length)) : part));
        return loss(...moved).dataSync()[0] as number;
      };
      const slope = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      expect(Math.abs(slope / length - 1)).toBeLessThan(0.02);
    }
  });

  it('is refused where it does not fit', () => {
    const base = madeWeights(config);
    const wide = initLora({ ...config, hiddenSize: 16 }, settings);
    expect(() => mergeLora(base, wide, 1)).toThrow('the weight is [24, 12]');
    const half = trained();
    half.delete(loraName('model.layers.0.mlp.up_proj', 'B'));
    expect(() => mergeLora(base, half, 1)).toThrow('model.layers.0.mlp.up_proj: lora_B is missing');
    expect(() => mergeLora(base, new Map([['lm_head.weight', half.values().next().value as HostTensor]]), 1)).toThrow(
      'not the name of a LoRA matrix',
    );
  });
});

it('writes and reads the names of adapter matrices', () => {
  expect(parseLoraName(loraName('model.layers.0.mlp.up_proj', 'A'))).toEqual({
    module: 'model.layers.0.mlp.up_proj',
    matrix: 'A',
  });
  expect(parseLoraName('base_model.model.lm_head.weight')).toBeNull();
});
