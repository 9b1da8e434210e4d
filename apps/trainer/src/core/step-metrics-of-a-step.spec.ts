import { initLora } from '@hindcast/language-model';
import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, seedModel, trainingSample } from '../testing/fixtures';
import { initialAdamState } from './adam';
import type { ComputeBackend } from './compute-backend';
import type { Hyperparameters } from './hyperparameters';
import { PolicyModel } from './policy-model';
import { INITIAL_PROGRESS } from './progress';
import { timingMetrics } from './step-metrics';
import { STEP_METRICS } from './step-metrics-table';
import { trainStep } from './train-step';
import type { TrainingSample } from './training-sample';
import type { TrainedWeights } from './tuning';

let seed: Awaited<ReturnType<typeof seedModel>>;
let backend: ComputeBackend;

beforeAll(async () => {
  const { config, baseWeights } = await seedModel();
  seed = { config: { ...config, layers: 1 }, baseWeights };
  backend = (await chooseBackend('onnx', 1)).backend;
});
afterAll(() => backend.dispose());

async function metricsOf(samples: readonly TrainingSample[], hyper: Hyperparameters): Promise<Record<string, number>> {
  const { tuning, loss, tokenBudget } = hyper;
  const model = new PolicyModel({ backend, ...seed, tuning, loss, tokenBudget });
  const weights = initLora(seed.config, { rank: 8, alpha: 16, seed: 1 }) as TrainedWeights;
  const optimizer = initialAdamState(new Map([...weights].map(([name, { data }]) => [name, data])));
  const result = await trainStep(model, samples, { weights, optimizer, progress: INITIAL_PROGRESS }, hyper, 0);
  if (!result.ok) throw new Error('the step was refused');
  return { ...result.metrics, ...timingMetrics(result.metrics, 2) };
}

const { loss } = hyperparameters();
const sample = trainingSample();
const k = 2;
const ids = Int32Array.from({ length: k * sample.responseIds.length }, (_, i) => 70 + i);
const taught: TrainingSample = {
  ...trainingSample({ case: 'opdRl', reward: -1 }),
  teacherLogProbs: Float32Array.of(-2, -1, -0.5, -1),
  topK: { k, ids, logProbs: Float32Array.from(ids, (_, i) => -2 - (i % k)) },
};

it('a step that has everything has every number of the table', async () => {
  const whole = { ...loss, klCoef: 0.3, entropyCoef: 0.01, topKCoef: 0.5 };
  const metrics = await metricsOf([sample, taught], hyperparameters({ loss: whole, epochs: 2 }));
  const names = Object.keys(STEP_METRICS).flatMap((name) =>
    name.startsWith('epoch_N/') ? [1, 2].map((epoch) => name.replace('N', String(epoch))) : [name],
  );
  expect(Object.keys(metrics).sort()).toEqual(names.sort());
  expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  const parts = ['policy', 'kl', 'entropy', 'top_k'].map((part) => metrics[`loss/${part}`]!);
  expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(metrics['loss/total']!, 4);
  expect(metrics['loss/kl']).toBeCloseTo(0.3 * metrics['kl']!, 6);
  expect(metrics['tokens_per_second']).toBe(metrics['tokens']! / 2);
});

it('a step that has rewards alone has every number but those of what it lacks', async () => {
  const metrics = await metricsOf([sample], hyperparameters());
  const lacks = [
    'loss/top_k',
    'kl',
    'entropy',
    'epoch_N/approx_kl',
    'epoch_N/clip_fraction',
    'epochs',
    'stopped_early',
  ];
  const signals = ['advantage_opd_mean', 'advantage_opd_std', 'teacher_student_gap_mean'];
  const names = Object.keys(STEP_METRICS).filter((name) => ![...lacks, ...signals].includes(name));
  expect(Object.keys(metrics).sort()).toEqual(names.sort());
});
