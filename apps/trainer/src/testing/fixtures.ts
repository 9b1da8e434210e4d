import { join } from 'node:path';
import {
  loraModules,
  readModelConfig,
  readModelWeights,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import { ADAM } from '../core/adam';
import type { Hyperparameters } from '../core/hyperparameters';
import type { Manifest } from '../core/manifest';
import { INITIAL_PROGRESS } from '../core/progress';
import type { TrainingSample } from '../core/training-sample';
import type { TrainingState } from '../core/train-step';
import type { LoraTuning, Tuning } from '../core/tuning';
import type { NewManifest } from '../version-store';

export const SEED_MODEL = join(__dirname, '../../../../models/seed');

export async function seedModel(): Promise<{ config: LlamaConfig; baseWeights: ReadonlyMap<string, HostTensor> }> {
  const config = await readModelConfig(SEED_MODEL);
  return { config, baseWeights: await readModelWeights(SEED_MODEL, config) };
}

export const loraTuning = (over: Partial<LoraTuning> = {}): LoraTuning => ({
  kind: 'lora',
  rank: 2,
  alpha: 4,
  targets: loraModules,
  isRankStabilised: false,
  dropout: 0,
  ...over,
});

export const hyperparameters = (over: Partial<Hyperparameters> = {}): Hyperparameters => ({
  method: 'combine',
  batchSize: 4,
  wRl: 1,
  wOpd: 1,
  balance: 'fixed',
  preset: 'balanced',
  learningRate: 1e-3,
  successFactor: 1,
  schedule: { kind: 'constant', warmupSteps: 0, totalSteps: null },
  adam: ADAM,
  epochs: 1,
  miniBatches: 1,
  targetKl: null,
  oldLogProbs: 'rollout',
  importanceLimit: null,
  opdAdvantageLimit: null,
  hasRewardBaseline: false,
  reduction: 'sample-mean',
  loss: {
    clip: { epsilonLow: 0.2, epsilonHigh: 0.28, dualClip: null, logRatioLimit: 20 },
    klType: 'k3',
    klCoef: 0,
    entropyCoef: 0,
    topKCoef: 0,
    measuresKl: false,
    measuresEntropy: false,
  },
  maxGradNorm: 1,
  tuning: loraTuning({ rank: 8, alpha: 16 }),
  tokenBudget: 4096,
  seed: 0,
  ...over,
});

let made = 0;

/** A sample whose rollout log-probs are −1 unless told otherwise. */
export function trainingSample(over: Partial<TrainingSample> = {}): TrainingSample {
  const sequence = ++made;
  const responseIds = over.responseIds ?? Int32Array.of(70, 71, 72, 4);
  return {
    turnId: uuid(sequence),
    tenant: 'default',
    streamSequence: sequence,
    case: 'rl',
    reward: 1,
    policyVersion: 0,
    promptIds: Int32Array.of(5, 2, 80, 81, 82, 4, 3),
    responseIds,
    rolloutLogProbs: new Float32Array(responseIds.length).fill(-1),
    teacherLogProbs: null,
    ...over,
  };
}

/** A manifest of one turn. */
export const manifest = (over: Partial<Manifest> = {}): Manifest => ({
  v: 1,
  version: 1,
  parent: 0,
  state: 'published',
  reason: null,
  at: 1,
  turnIds: [uuid(over.version ?? 1)],
  hyperparameters: {},
  metrics: { loss: 1 },
  progress: INITIAL_PROGRESS,
  checksums: {},
  ...over,
});

/** What is known of a version of one turn before it is committed. */
export const newManifest = (version: number, state: TrainingState, tuning: Tuning = loraTuning()): NewManifest => ({
  version,
  parent: version - 1,
  at: 1,
  turnIds: [uuid(version)],
  hyperparameters: { tuning },
  metrics: {},
  progress: state.progress,
});

/** A version-4 UUID that ends in the number. */
export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
