import { join } from 'node:path';
import {
  readModelConfig,
  readModelWeights,
  readPeftAdapter,
  readSafetensors,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import {
  reference,
  referenceDir,
  referenceNames,
  type Reference,
} from '../../../../libs/language-model/src/testing/reference';
import { useCpuBackend } from '../testing/cpu-backend';
import type { LossSettings } from './loss/combined-loss';
import { GRADIENT_PREFIX, lossAndGradientsFunction, ROW_PREFIX, type PolicyShape } from './policy-functions';

/** Inputs of the loss, `[B, T]`, and its value, of tools/reference/make_fixtures.py. */
interface LossReference {
  oldLogProbs: number[][];
  advantages: number[][];
  weights: number[][];
  refLogProbs: number[][];
  value: number;
}

type GradientReference = Reference & {
  settings: Record<'epsilonLow' | 'epsilonHigh' | 'dualClip' | 'klCoef' | 'entropyCoef', number>;
  loss: LossReference;
  adapterLoss: LossReference;
};

useCpuBackend();

const toTensors = (tensors: ReadonlyMap<string, HostTensor>): Record<string, tf.Tensor> =>
  Object.fromEntries([...tensors].map(([name, { data, shape, dtype }]) => [name, tf.tensor(data, [...shape], dtype)]));

/** |ours − theirs| / |theirs|, L2. */
function relativeDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  expect(ours.length).toBe(theirs.length);
  let [squares, all] = [0, 0];
  for (let i = 0; i < theirs.length; i++) {
    squares += (ours[i]! - theirs[i]!) ** 2;
    all += theirs[i]! ** 2;
  }
  return Math.sqrt(squares / all);
}

function settingsOf({ settings }: GradientReference): LossSettings {
  const { epsilonLow, epsilonHigh, dualClip, klCoef, entropyCoef } = settings;
  return {
    clip: { epsilonLow, epsilonHigh, dualClip, logRatioLimit: 20 },
    klType: 'k3',
    klCoef,
    entropyCoef,
    topKCoef: 0,
    measuresKl: false,
    measuresEntropy: false,
  };
}

/** Loss and gradients by name, under `recompute` as without. */
function computed(
  shape: Omit<PolicyShape, 'dropout' | 'recompute'>,
  expected: GradientReference,
  inputs: LossReference,
  weights: Record<string, tf.Tensor>,
  recompute: boolean,
): Record<string, tf.Tensor> {
  const { oldLogProbs, advantages, refLogProbs } = inputs;
  return lossAndGradientsFunction(
    { ...shape, dropout: 0, recompute },
    settingsOf(expected),
  )({
    ...weights,
    tokenIds: tf.tensor2d(
      expected.ids.map((row) => row.slice(0, -1)),
      undefined,
      'int32',
    ),
    targetIds: tf.tensor2d(
      expected.ids.map((row) => row.slice(1)),
      undefined,
      'int32',
    ),
    oldLogProbs: tf.tensor2d(oldLogProbs),
    advantages: tf.tensor2d(advantages),
    tokenWeights: tf.tensor2d(inputs.weights),
    refLogProbs: tf.tensor2d(refLogProbs),
  });
}

describe.each(referenceNames)('gradients against PyTorch in float64: %s', (name) => {
  const dir = referenceDir(name);
  const expected = reference<GradientReference>(name);
  let config: LlamaConfig;
  let base: ReadonlyMap<string, HostTensor>;
  let gradients: ReadonlyMap<string, HostTensor>;
  beforeAll(async () => {
    config = await readModelConfig(dir);
    base = await readModelWeights(dir, config);
    gradients = await readSafetensors(join(dir, 'gradients.safetensors'));
  });

  const check = (outputs: Record<string, tf.Tensor>, names: readonly string[], value: number): void => {
    const loss = tf.sum(outputs[`${ROW_PREFIX}loss`]!).dataSync()[0]!;
    expect(Math.abs(loss - value)).toBeLessThan(1e-5);
    for (const weight of names) {
      const ours = outputs[`${GRADIENT_PREFIX}${weight}`]!;
      const theirs = gradients.get(weight)!;
      expect(ours.shape).toEqual(theirs.shape);
      // The name stands beside the number, so that a failure says which tensor.
      const difference = relativeDifference(ours.dataSync(), theirs.data);
      expect(difference < 1e-5 ? null : { weight, difference }).toBeNull();
    }
  };

  it.each([false, true])('by every weight, within 1e-5 of each (blocks computed again: %s)', (recompute) => {
    const names = [...base.keys()];
    const shape = { config, frozenNames: [], trainedNames: names, loraScale: null };
    check(computed(shape, expected, expected.loss, toTensors(base), recompute), names, expected.loss.value);
  });

  it.each([false, true])('by every matrix of a peft adapter (blocks computed again: %s)', async (recompute) => {
    const { tensors, scale } = await readPeftAdapter(join(dir, 'adapter'), config);
    const names = [...tensors.keys()];
    const shape = { config, frozenNames: [...base.keys()], trainedNames: names, loraScale: scale };
    const weights = { ...toTensors(base), ...toTensors(tensors) };
    check(computed(shape, expected, expected.adapterLoss, weights, recompute), names, expected.adapterLoss.value);
  });
});
