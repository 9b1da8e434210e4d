import { join } from 'node:path';
import {
  float32Tensor,
  initLora,
  loraTargets,
  mulberry32,
  sizeOf,
  tokenLogProbs,
  weightShapes,
  type HostTensor,
  type LlamaConfig,
  type LoraTensors,
} from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';

// Otherwise tfjs prints advice on the first tensor.
tf.enableProdMode();

export const SEED_DIR = join(__dirname, '../../../../models/seed');

/** Three query heads to a key head, untied, and a head wider than hiddenSize / heads. */
export const smallConfig: LlamaConfig = {
  architecture: 'llama',
  vocabSize: 23,
  hiddenSize: 12,
  layers: 2,
  heads: 6,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 20,
  rmsNormEps: 1e-5,
  ropeTheta: 10000,
  tieWordEmbeddings: false,
  maxPositions: 200,
  bosTokenId: null,
  eosTokenIds: [],
  padTokenId: 0,
  attentionBias: false,
  attentionOutputBias: false,
  mlpBias: false,
  queryKeyNorm: false,
};

/** Reproducible weights with norms around 1. */
export function randomWeights(config: LlamaConfig, seed: number): Map<string, HostTensor> {
  const uniform = mulberry32(seed);
  return new Map(
    [...weightShapes(config)].map(([name, shape]) => {
      const around = name.includes('norm') ? 1 : 0;
      const data = Float32Array.from({ length: sizeOf(shape) }, () => around + 0.8 * (uniform() - 0.5));
      return [name, float32Tensor(shape, data)];
    }),
  );
}

/** An adapter of rank 4 that changes the model: both matrices random, on all seven modules. */
export function randomAdapter(config: LlamaConfig, seed: number, strength = 0.1): Map<string, HostTensor> {
  const uniform = mulberry32(seed + 1);
  const tensors = initLora(config, { rank: 4, alpha: 8, seed });
  if (loraTargets(config).length === 0) throw new RangeError('nothing to adapt');
  return new Map(
    [...tensors].map(([name, tensor]) => [
      name,
      name.includes('lora_A')
        ? tensor
        : float32Tensor(
            tensor.shape,
            Float32Array.from(tensor.data, () => strength * (uniform() - 0.5)),
          ),
    ]),
  );
}

/** Log-probs as the trainer computes them: log π(ids[t + 1] | ids[..t]), one fewer than ids. */
export async function trainerLogProbs(
  config: LlamaConfig,
  weights: ReadonlyMap<string, HostTensor>,
  ids: readonly number[],
  adapter?: { tensors: ReadonlyMap<string, HostTensor>; scale: number },
): Promise<number[]> {
  await tf.setBackend('cpu');
  const lora: LoraTensors | undefined = adapter && { weights: toTensors(adapter.tensors), scale: adapter.scale };
  const result = tokenLogProbs(
    config,
    toTensors(weights),
    tf.tensor2d([ids.slice(0, -1)], undefined, 'int32'),
    tf.tensor2d([ids.slice(1)], undefined, 'int32'),
    lora && { lora },
  );
  return Array.from(await result.data());
}

function toTensors(tensors: ReadonlyMap<string, HostTensor>): Record<string, tf.Tensor> {
  return Object.fromEntries(
    [...tensors].map(([name, { data, shape, dtype }]) => [name, tf.tensor(data, [...shape], dtype)]),
  );
}

export function largestDifference(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`${a.length} and ${b.length} numbers`);
  return Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));
}
