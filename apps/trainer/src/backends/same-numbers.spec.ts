import {
  float32Tensor,
  initLora,
  sizeOf,
  weightShapes,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import { initialAdamState } from '../core/adam';
import { PolicyModel } from '../core/policy-model';
import { INITIAL_PROGRESS } from '../core/progress';
import { trainStep } from '../core/train-step';
import type { TrainedWeights, Tuning } from '../core/tuning';
import { hyperparameters, loraTuning, trainingSample } from '../testing/fixtures';
import { BINDING_DIR, missingBinding } from '../testing/native-binding';
import { chooseBackend, type BackendName } from './choose-backend';

const STEPS = 3;
const TOLERANCE = 1e-5;
const LEARNING_RATE = 1e-3;
/** The cpu backend takes most of it. */
const LIMIT_MS = 120_000;

/** Small, since the cpu backend computes it too; grouped queries with their norm, biases, an output layer of its own. */
const config: LlamaConfig = {
  architecture: 'qwen3',
  vocabSize: 61,
  hiddenSize: 16,
  layers: 2,
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

const baseWeights: ReadonlyMap<string, HostTensor> = new Map(
  [...weightShapes(config)].map(([name, shape], w) => {
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
  }),
];

interface Trained {
  /** Metrics of each step. */
  readonly metrics: Readonly<Record<string, number>>[];
  readonly weights: TrainedWeights;
}

function firstWeights(tuning: Tuning): TrainedWeights {
  if (tuning.kind === 'full') return baseWeights as TrainedWeights;
  const { rank, alpha, targets } = tuning;
  return initLora(config, { rank, alpha, targetModules: targets, seed: 1 }) as TrainedWeights;
}

/** The same batch, stepped on that backend. */
async function train(name: BackendName, tuning: Tuning): Promise<Trained> {
  const { backend } = await chooseBackend(name, 1, { bindingDir: BINDING_DIR });
  const plain = hyperparameters({ tuning, learningRate: LEARNING_RATE });
  const hyper = { ...plain, loss: { ...plain.loss, klCoef: 0.1, entropyCoef: 0.01 } };
  const { loss, tokenBudget } = hyper;
  const model = new PolicyModel({ backend, config, baseWeights, tuning, loss, tokenBudget });
  const weights = firstWeights(tuning);
  const optimizer = initialAdamState(new Map([...weights].map(([key, { data }]) => [key, data])));
  let state = { weights, optimizer, progress: INITIAL_PROGRESS };
  const metrics: Trained['metrics'] = [];
  for (let i = 0; i < STEPS; i++) {
    const result = await trainStep(model, samples, state, hyper, 0);
    if (!result.ok) throw new Error('the step was refused');
    metrics.push(result.metrics);
    ({ state } = result);
  }
  await backend.dispose();
  return { metrics, weights: state.weights };
}

const expected = new Map<Tuning['kind'], Promise<Trained>>();
function onCpu(tuning: Tuning): Promise<Trained> {
  if (!expected.has(tuning.kind)) expected.set(tuning.kind, train('cpu', tuning));
  return expected.get(tuning.kind)!;
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
  return largest;
}

describe.each<Tuning>([loraTuning({ rank: 4, alpha: 8 }), { kind: 'full' }])('three steps, $kind tuning', (tuning) => {
  const backends: readonly (readonly [BackendName, string | null])[] = [
    ['onnx', null],
    ['wasm', null],
    ['tfjs-node', missingBinding()],
  ];
  for (const [name, missing] of backends) {
    const title = `${name} gives the losses and weights of cpu within ${TOLERANCE}`;
    (missing === null ? it : it.skip)(
      missing === null ? title : `${title} (skipped: ${missing})`,
      async () => {
        const [right, found] = [await onCpu(tuning), await train(name, tuning)];
        const numbers = (trained: Trained) =>
          trained.metrics.map((step) => [step['loss/policy']!, step['loss/kl']!]).flat();
        expect(numbers(found)).toHaveLength(2 * STEPS);
        expect(largestDifference(numbers(found), numbers(right))).toBeLessThan(TOLERANCE);
        expect([...found.weights.keys()]).toEqual([...right.weights.keys()]);
        for (const [key, { data }] of found.weights) {
          expect([key, largestDifference(data, right.weights.get(key)!.data) < TOLERANCE]).toEqual([key, true]);
          // Adam moves what has a gradient by about a learning rate per step.
          if (tuning.kind === 'full')
            expect(largestDifference(data, baseWeights.get(key)!.data)).toBeGreaterThan(LEARNING_RATE);
        }
      },
      LIMIT_MS,
    );
  }
});
