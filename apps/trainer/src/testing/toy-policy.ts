import {
  float32Tensor,
  initLora,
  mulberry32,
  weightShapes,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import { initialAdamState } from '../core/adam';
import type { ComputeBackend } from '../core/compute-backend';
import type { Hyperparameters } from '../core/hyperparameters';
import { PolicyModel } from '../core/policy-model';
import { INITIAL_PROGRESS } from '../core/progress';
import type { TrainingState } from '../core/train-step';
import type { TrainedWeights } from '../core/tuning';

/** Small enough to take a thousand steps op by op. Its output layer is its embedding. */
export const tinyConfig: LlamaConfig = {
  architecture: 'llama',
  vocabSize: 11,
  hiddenSize: 4,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  headDim: 2,
  intermediateSize: 6,
  rmsNormEps: 1e-5,
  ropeTheta: 10000,
  tieWordEmbeddings: true,
  maxPositions: 256,
  bosTokenId: null,
  eosTokenIds: [],
  padTokenId: 0,
  attentionBias: false,
  attentionOutputBias: false,
  mlpBias: false,
  queryKeyNorm: false,
};

type Float32HostTensor = HostTensor & { readonly dtype: 'float32' };

/** Weights of a seed: uniform in ±0.7, norms around 1. */
export function tinyWeights(config: LlamaConfig = tinyConfig, seed = 1): Map<string, Float32HostTensor> {
  const uniform = mulberry32(seed);
  return new Map(
    [...weightShapes(config)].map(([name, shape]) => {
      const size = shape.reduce((product, dimension) => product * dimension, 1);
      const centre = name.includes('norm') ? 1 : 0;
      const data = Float32Array.from({ length: size }, () => centre + 1.4 * (uniform() - 0.5));
      return [name, float32Tensor(shape, data)];
    }),
  );
}

/** A fresh state of that tuning: the model's own weights, or an adapter whose B is not zero, so that every gradient is there. */
export function tinyState(hyper: Hyperparameters, config: LlamaConfig = tinyConfig): TrainingState {
  const weights: TrainedWeights = hyper.tuning.kind === 'full' ? tinyWeights(config) : tinyAdapter(hyper, config);
  return { weights, optimizer: initialAdamState(dataOf(weights)), progress: INITIAL_PROGRESS };
}

export function tinyModel(
  backend: ComputeBackend,
  hyper: Hyperparameters,
  { config = tinyConfig, recompute = false }: { config?: LlamaConfig; recompute?: boolean } = {},
): PolicyModel {
  const { tuning, loss, tokenBudget } = hyper;
  return new PolicyModel({
    backend,
    config,
    baseWeights: tinyWeights(config),
    tuning,
    loss,
    tokenBudget,
    recompute,
  });
}

export const dataOf = (weights: TrainedWeights): Map<string, Float32Array> =>
  new Map([...weights].map(([name, { data }]) => [name, data]));

function tinyAdapter({ tuning }: Hyperparameters, config: LlamaConfig): TrainedWeights {
  if (tuning.kind === 'full') throw new TypeError('full tuning has no adapter');
  const { rank, alpha, targets } = tuning;
  const uniform = mulberry32(7);
  const fresh = initLora(config, { rank, alpha, targetModules: targets, seed: 1 });
  return new Map(
    [...fresh].map(([name, { shape, data }]) => [
      name,
      float32Tensor(
        shape,
        Float32Array.from(data, (x) => x || 0.4 * (uniform() - 0.5)),
      ),
    ]),
  );
}
