import { initLora, weightShapes, type HostTensor } from '@hindcast/language-model';
import type { TrainingSample } from '../core/training-sample';
import { hashed, hashedArray, hashedInteger } from './hashed-numbers';
import { promptLength, type Size } from './sizes';

/** How one tensor is made: from its seed within ±bound, or 1 everywhere. */
export interface TensorRecipe {
  readonly name: string;
  readonly shape: readonly number[];
  readonly seed: number;
  /** `null` for ones. */
  readonly bound: number | null;
}

type FloatTensor = HostTensor & { readonly dtype: 'float32' };

const FIRST_ADAPTER_SEED = 10_000;
const TOKEN_SEED = 20_000;

/** Scale of the adapter, alpha / rank. */
export const ADAPTER_ALPHA = 32;

/** The model's own weights: of unit gain, gains of norms 1. */
export function baseRecipes({ config }: Size): TensorRecipe[] {
  return [...weightShapes(config)].map(([name, shape], seed) => ({
    name,
    shape,
    seed,
    bound: shape.length < 2 ? null : Math.sqrt(3 / (name.includes('embed') ? 400 : shape[1]!)),
  }));
}

/** An adapter that has been trained for a while: neither of its matrices is zero. */
export function adapterRecipes({ config, rank }: Size): TensorRecipe[] {
  if (rank === null) return [];
  return [...initLora({ ...config, vocabSize: 1 }, { rank, alpha: ADAPTER_ALPHA, seed: 0 })].map(
    ([name, { shape }], i) => ({
      name,
      shape,
      seed: FIRST_ADAPTER_SEED + i,
      bound: name.includes('lora_B') ? 0.02 : 1 / Math.sqrt(shape[1]!),
    }),
  );
}

export function tensorsOf(recipes: readonly TensorRecipe[]): Map<string, FloatTensor> {
  return new Map(
    recipes.map(({ name, shape, seed, bound }) => {
      const length = shape.reduce((product, dim) => product * dim, 1);
      const data = bound === null ? new Float32Array(length).fill(1) : hashedArray(seed, length, bound);
      return [name, { dtype: 'float32', shape, data }];
    }),
  );
}

/**
 * Samples with a reward and a teacher, a quarter prompt and three quarters answer. The policy that is said to have sampled them is
 * near the uniform one, as untrained weights are, so that some ratios are clipped and others not.
 */
export function samplesOf(size: Size): TrainingSample[] {
  const { config, samples, length } = size;
  const prompt = promptLength(size);
  const response = length + 1 - prompt;
  return Array.from({ length: samples }, (_, i) => {
    const ids = Int32Array.from({ length: length + 1 }, (_, t) => hashedInteger(TOKEN_SEED + i, t, config.vocabSize));
    const near = (seed: number, spread: number): Float32Array =>
      Float32Array.from({ length: response }, (_, t) => -Math.log(config.vocabSize) + spread * hashed(seed + i, t));
    return {
      turnId: `turn-${i}`,
      tenant: 'bench',
      streamSequence: i,
      case: 'opdRl',
      reward: i % 2 === 0 ? 1 : -1,
      policyVersion: 0,
      promptIds: ids.slice(0, prompt),
      responseIds: ids.slice(prompt),
      rolloutLogProbs: near(TOKEN_SEED + 1_000, 0.3),
      teacherLogProbs: near(TOKEN_SEED + 2_000, 1),
    };
  });
}
