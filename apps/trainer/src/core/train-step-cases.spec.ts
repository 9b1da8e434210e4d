import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, loraTuning, trainingSample } from '../testing/fixtures';
import { dataOf, tinyModel, tinyState } from '../testing/toy-policy';
import { planBatch } from './batch-plan';
import type { ComputeBackend } from './compute-backend';
import type { Hyperparameters } from './hyperparameters';
import { runAwayAlarm } from './run-away';
import { trainStep, type StepResult, type TrainingState } from './train-step';
import type { TrainingSample } from './training-sample';

type Stepped = Extract<StepResult, { ok: true }>;

let backend: ComputeBackend;
beforeAll(async () => {
  ({ backend } = await chooseBackend('wasm', 1));
});
afterAll(() => backend.dispose());

const tuned = (over: Partial<Hyperparameters> = {}): Hyperparameters =>
  hyperparameters({ tuning: loraTuning(), learningRate: 0.02, ...over });
const sample = (over: Partial<TrainingSample> = {}): TrainingSample =>
  trainingSample({ promptIds: Int32Array.of(1, 2, 3), responseIds: Int32Array.of(4, 5, 6, 7), ...over });
const shifted = (logProbs: Float32Array, by: number): Float32Array => logProbs.map((x) => x + by);

async function step(
  samples: readonly TrainingSample[],
  hyper: Hyperparameters,
  state = tinyState(hyper),
): Promise<Stepped> {
  const result = await trainStep(tinyModel(backend, hyper), samples, state, hyper, 0);
  if (!result.ok) throw new Error('the step was refused');
  return result;
}

async function onPolicy(samples: readonly TrainingSample[], hyper: Hyperparameters, state: TrainingState) {
  const logProbs = await tinyModel(backend, hyper).responseLogProbs(samples, state.weights);
  return samples.map((each, i) => ({ ...each, rolloutLogProbs: logProbs[i]! }));
}

it('D58: of sixteen samples five are refused; the step is over the other eleven, and its mean too', async () => {
  const hyper = tuned({ batchSize: 16, oldLogProbs: 'recomputed' });
  const all = Array.from({ length: 16 }, (_, i) =>
    sample({
      policyVersion: i % 3 === 0 && i < 15 ? 0 : 9,
      reward: i % 2 === 0 ? 1 : -1,
      responseIds: Int32Array.from({ length: 1 + (i % 5) }, (_, t) => 4 + t),
    }),
  );
  const waiting = all.map((each) => ({ sample: each, arrivedAt: 0 }));
  const rule = { batchSize: 16, batchMin: 4, maxWaitMs: 1000, maxStaleness: 4 };
  const { refused, batch } = planBatch(waiting, 9, rule, 1000);
  expect(refused.map(({ refusal }) => refusal.reason)).toEqual(Array.from({ length: 5 }, () => 'stale'));
  expect(batch).toHaveLength(11);
  const { metrics } = await step(batch!, hyper);
  // At ρ = 1 the loss is minus the mean reward of what is there.
  const mean = batch!.reduce((sum, { reward }) => sum + reward, 0) / 11;
  expect(metrics['loss/total']).toBeCloseTo(-mean, 6);
  expect(metrics['samples']).toBe(11);
  expect(metrics['updates']).toBe(1);
});

it('D59: a teacher that finds every token unlikely, always, raises the alarm, and nothing is published any more', async () => {
  const { loss } = tuned();
  const hyper = tuned({
    tuning: { kind: 'full' },
    loss: { ...loss, measuresKl: true, measuresEntropy: true },
  });
  const bounds = { klNats: 0.5, entropyNats: 0.5 };
  let state = tinyState(hyper);
  const alarms: (string | null)[] = [];
  for (let i = 0; i < 60; i++) {
    const [rollout] = await onPolicy([sample({ case: 'opd', reward: 0 })], hyper, state);
    const taught = { ...rollout!, teacherLogProbs: shifted(rollout!.rolloutLogProbs, -5) };
    const { state: after, metrics } = await step([taught], hyper, state);
    alarms.push(runAwayAlarm(metrics, after.progress, bounds)?.kind ?? null);
    state = after;
  }
  const first = alarms.findIndex((alarm) => alarm !== null);
  expect(first).toBeGreaterThan(1);
  expect(alarms.slice(first).every((alarm) => alarm !== null)).toBe(true);
});

it('D60: what the teacher says moves the weights; with w_opd = 0 it moves nothing', async () => {
  const weightsWith = async (gap: number, wOpd: number): Promise<Map<string, Float32Array>> => {
    const hyper = tuned({ wOpd });
    const [rollout] = await onPolicy([sample({ case: 'opdRl' })], hyper, tinyState(hyper));
    const teacherLogProbs = rollout!.rolloutLogProbs.map((x, t) => x + (t === 0 ? gap : 0));
    return dataOf((await step([{ ...rollout!, teacherLogProbs }], hyper)).state.weights);
  };
  expect(await weightsWith(0.5, 1)).not.toEqual(await weightsWith(-0.5, 1));
  expect(await weightsWith(0.5, 0)).toEqual(await weightsWith(-0.5, 0));
});

it('D61: on the first pass with unchanged weights every ratio is exactly 1, op by op and recorded', async () => {
  const hyper = tuned({ oldLogProbs: 'recomputed' });
  const samples = [sample(), sample({ responseIds: Int32Array.of(9, 10) })];
  const { backend: onnx } = await chooseBackend('onnx', 1);
  for (const each of [backend, onnx]) {
    const result = await trainStep(tinyModel(each, hyper), samples, tinyState(hyper), hyper, 0);
    if (!result.ok) throw new Error('the step was refused');
    expect(Math.abs(result.metrics['approx_kl']!)).toBe(0);
    expect(result.metrics['clip_fraction']).toBe(0);
    const rollouts = samples.map((one, i) => ({ ...one, rolloutLogProbs: Float32Array.from(result.oldLogProbs[i]!) }));
    const again = await trainStep(tinyModel(each, hyper), rollouts, tinyState(hyper), hyper, 0);
    expect(again.ok && again.metrics['train_rollout_logprob_abs_diff_max']).toBe(0);
  }
  await onnx.dispose();
});

it.each([1, -1] as const)(
  'D62: a rollout 200 nats away gives a finite step and a bounded KL, r = %i',
  async (reward) => {
    const hyper = tuned();
    const { metrics, state } = await step([sample({ reward, rolloutLogProbs: new Float32Array(4).fill(-200) })], hyper);
    expect(metrics['approx_kl']).toBe(-20);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    for (const data of dataOf(state.weights).values()) expect(data.every(Number.isFinite)).toBe(true);
  },
);

it('D63: without an advantage a rollout 800 nats away is a loss of exactly 0 and no update', async () => {
  const far = new Float32Array(4).fill(-800);
  const neutral = sample({ case: 'opd', reward: 0, rolloutLogProbs: far, teacherLogProbs: far });
  const { metrics } = await step([neutral], tuned());
  expect(Math.abs(metrics['loss/total']!)).toBe(0);
  expect(metrics['updates']).toBe(0);
});
