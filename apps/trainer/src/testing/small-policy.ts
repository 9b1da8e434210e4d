import {
  float32Tensor,
  initLora,
  sizeOf,
  weightShapes,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import { initialAdamState } from '../core/adam';
import type { ComputeBackend } from '../core/compute-backend';
import { PolicyModel } from '../core/policy-model';
import { INITIAL_PROGRESS } from '../core/progress';
import { trainStep } from '../core/train-step';
import type { TrainedWeights, Tuning } from '../core/tuning';
import { hyperparameters, trainingSample } from './fixtures';

export const SMALL_LEARNING_RATE = 1e-3;

/** Small enough for the cpu backend; grouped queries with their norm, biases, an output layer of its own. */
export const smallConfig: LlamaConfig = {
  architecture: 'qwen3',
  vocabSize: 61,
  hiddenSize: 16,
  layers: 1,
  heads: 4,
  kvHeads: 2,
  headDim: 6,
  intermediateSize: 24,
  rmsNormEps: 1e-6,
  ropeTheta: 10000,
  tieWordEmbeddings: false,
  maxPositions: 64,
  bosTokenId: null,
  eosTokenIds: [],
  padTokenId: 0,
  attentionBias: true,
  attentionOutputBias: false,
  mlpBias: false,
  queryKeyNorm: true,
};

export const smallWeights: ReadonlyMap<string, HostTensor> = new Map(
  [...weightShapes(smallConfig)].map(([name, shape], w) => {
    const wave = (_: unknown, i: number): number => (name.includes('norm') ? 1 : 0) + 0.4 * Math.sin(97 * w + i * 1.3);
    return [name, float32Tensor(shape, Float32Array.from({ length: sizeOf(shape) }, wave))];
  }),
);

const ids = (length: number, step: number): Int32Array => Int32Array.from({ length }, (_, t) => (5 + step * t) % 61);
const samples = [
  trainingSample({
    promptIds: ids(5, 3),
    responseIds: ids(4, 7),
    reward: 1,
    rolloutLogProbs: new Float32Array(4).fill(-4),
  }),
  trainingSample({
    promptIds: ids(3, 2),
    responseIds: ids(11, 9),
    case: 'opdRl',
    reward: -1,
    rolloutLogProbs: Float32Array.from({ length: 11 }, (_, t) => -4 - Math.sin(t)),
    teacherLogProbs: Float32Array.from({ length: 11 }, (_, t) => -3.5 - Math.cos(t)),
    topKSize: 2,
    topK: {
      k: 2,
      ids: Int32Array.from({ length: 22 }, (_, i) => (i * 11) % 61),
      logProbs: Float32Array.from({ length: 22 }, (_, i) => -1.5 - 0.1 * (i % 7)),
    },
  }),
];

export interface SmallTraining {
  /** Metrics of each step. */
  readonly metrics: readonly Readonly<Record<string, number>>[];
  readonly weights: TrainedWeights;
}

function firstWeights(tuning: Tuning): TrainedWeights {
  if (tuning.kind === 'full') return smallWeights as TrainedWeights;
  const { rank, alpha, targets } = tuning;
  return initLora(smallConfig, { rank, alpha, targetModules: targets, seed: 1 }) as TrainedWeights;
}

/** Steps the same batch so many times, with every term of the loss. */
export async function trainSmallPolicy(
  backend: ComputeBackend,
  tuning: Tuning,
  steps: number,
  afterStep: (step: number) => void = () => undefined,
): Promise<SmallTraining> {
  const plain = hyperparameters({ tuning, learningRate: SMALL_LEARNING_RATE });
  const hyper = { ...plain, loss: { ...plain.loss, klCoef: 0.1, entropyCoef: 0.01, topKCoef: 0.1 } };
  const { loss, tokenBudget } = hyper;
  const model = new PolicyModel({ backend, config: smallConfig, baseWeights: smallWeights, tuning, loss, tokenBudget });
  const weights = firstWeights(tuning);
  const optimizer = initialAdamState(new Map([...weights].map(([key, { data }]) => [key, data])));
  let state = { weights, optimizer, progress: INITIAL_PROGRESS };
  const metrics: Readonly<Record<string, number>>[] = [];
  for (let i = 0; i < steps; i++) {
    const result = await trainStep(model, samples, state, hyper, 0);
    if (!result.ok) throw new Error('the step was refused');
    metrics.push(result.metrics);
    ({ state } = result);
    afterStep(i);
  }
  return { metrics, weights: state.weights };
}

/** The largest |a − b|; NaN if either has one. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = a.length === b.length ? 0 : NaN;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
  return largest;
}
