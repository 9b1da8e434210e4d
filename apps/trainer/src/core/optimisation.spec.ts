import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, loraTuning, trainingSample } from '../testing/fixtures';
import { dataOf, tinyModel, tinyState } from '../testing/toy-policy';
import type { ComputeBackend } from './compute-backend';
import type { Hyperparameters } from './hyperparameters';
import { miniBatches } from './optimisation';
import type { PolicyModel } from './policy-model';
import { trainStep, type StepResult, type TrainingState } from './train-step';
import type { TrainingSample } from './training-sample';

type Stepped = Extract<StepResult, { ok: true }>;

let backend: ComputeBackend;
beforeAll(async () => {
  ({ backend } = await chooseBackend('wasm', 1));
});
afterAll(() => backend.dispose());

const tuned = (over: Partial<Hyperparameters> = {}): Hyperparameters =>
  hyperparameters({ tuning: loraTuning(), learningRate: 0.05, ...over });
const full = (over: Partial<Hyperparameters> = {}): Hyperparameters => tuned({ tuning: { kind: 'full' }, ...over });
const sample = (responseIds: number[], over: Partial<TrainingSample> = {}): TrainingSample =>
  trainingSample({ promptIds: Int32Array.of(1, 2, 3), responseIds: Int32Array.from(responseIds), ...over });

/** Samples with the log-probs that the state really gives them. */
async function onPolicy(
  model: PolicyModel,
  state: TrainingState,
  samples: TrainingSample[],
): Promise<TrainingSample[]> {
  const logProbs = await model.responseLogProbs(samples, state.weights);
  return samples.map((each, i) => ({ ...each, rolloutLogProbs: logProbs[i]! }));
}

async function step(
  samples: readonly TrainingSample[],
  hyper: Hyperparameters,
  state = tinyState(hyper),
): Promise<Stepped> {
  const result = await trainStep(tinyModel(backend, hyper), samples, state, hyper, 0);
  if (!result.ok) throw new Error('the step was refused');
  return result;
}

async function threeSamples(hyper: Hyperparameters): Promise<TrainingSample[]> {
  return await onPolicy(tinyModel(backend, hyper), tinyState(hyper), [
    sample([4, 5, 6, 7]),
    sample([7, 8], { reward: -1 }),
    sample([9, 10, 4]),
  ]);
}

describe('miniBatches', () => {
  it.each([
    { samples: 5, count: 1, parts: [[0, 1, 2, 3, 4]] },
    {
      samples: 5,
      count: 2,
      parts: [
        [0, 1],
        [2, 3, 4],
      ],
    },
    { samples: 2, count: 4, parts: [[0], [1]] },
  ])('$samples samples in $count: $parts', ({ samples, count, parts }) => {
    expect(miniBatches(samples, count)).toEqual(parts);
  });
});

describe('epochs over one batch', () => {
  it('are steps from the same old policy: two epochs are two steps on the same log-probs, bit for bit', async () => {
    const hyper = tuned();
    const samples = await threeSamples(hyper);
    const twice = await step(samples, { ...hyper, epochs: 2 });
    const first = await step(samples, hyper);
    const second = await step(samples, hyper, first.state);
    expect(dataOf(twice.state.weights)).toEqual(dataOf(second.state.weights));
    expect(twice.state.optimizer.step).toBe(2);
    expect(twice.state.progress.steps).toBe(1);
  });

  it('make the clip act: nothing is clipped in the first, and some tokens are in the last', async () => {
    const hyper = tuned({ epochs: 4, learningRate: 0.2 });
    const { metrics } = await step(await threeSamples(hyper), hyper);
    expect(metrics).toMatchObject({ epochs: 4, updates: 4, stopped_early: 0, 'epoch_1/clip_fraction': 0 });
    expect(Math.abs(metrics['epoch_1/approx_kl']!)).toBeLessThan(1e-6);
    expect(metrics['epoch_4/clip_fraction']).toBeGreaterThan(0.2);
    expect(metrics['clip_fraction']).toBe(metrics['epoch_4/clip_fraction']);
    expect(metrics['approx_kl']).toBe(metrics['epoch_4/approx_kl']);
  });

  it('end early at TARGET_KL, before the step that would go on', async () => {
    const hyper = tuned({ epochs: 8, learningRate: 0.1, targetKl: 0.02 });
    const samples = await threeSamples(hyper);
    const { metrics, state } = await step(samples, hyper);
    expect(metrics).toMatchObject({ stopped_early: 1, updates: metrics['epochs'] });
    expect(metrics['epochs']).toBeLessThan(8);
    expect(state.optimizer.step).toBe(metrics['updates']);
    const unbounded = await step(samples, { ...hyper, epochs: metrics['epochs']!, targetKl: null });
    expect(dataOf(state.weights)).toEqual(dataOf(unbounded.state.weights));
  });

  it('in mini-batches are steps on the parts, each a mean over its own samples', async () => {
    const hyper = tuned();
    const samples = await threeSamples(hyper);
    const cut = await step(samples, { ...hyper, miniBatches: 2 });
    const first = await step(samples.slice(0, 1), hyper);
    const second = await step(samples.slice(1), hyper, first.state);
    expect(dataOf(cut.state.weights)).toEqual(dataOf(second.state.weights));
    expect(cut.metrics['updates']).toBe(2);
    expect(cut.metrics['loss/total']).toBeCloseTo(
      (first.metrics['loss/total']! + 2 * second.metrics['loss/total']!) / 3,
      6,
    );
  });
});

describe('the optimizer', () => {
  it('D64: without a gradient makes no step: weights and moments stay, and the count of updates says so', async () => {
    const hyper = tuned({ adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.1 } });
    const moving = (await step(await threeSamples(hyper), hyper)).state;
    const neutral = sample([4, 5], { case: 'opd', reward: 0, teacherLogProbs: Float32Array.of(-1, -1) });
    const { state, metrics } = await step([neutral], hyper, moving);
    expect(metrics).toMatchObject({ updates: 0, grad_norm: 0 });
    expect(Math.abs(metrics['loss/total']!)).toBe(0);
    expect(state.weights).toBe(moving.weights);
    expect(state.optimizer).toBe(moving.optimizer);
  });

  it('decays the weights beside the gradient', async () => {
    const hyper = full();
    const samples = await threeSamples(hyper);
    const plain = await step(samples, hyper);
    const decayed = await step(samples, { ...hyper, adam: { ...hyper.adam, weightDecay: 0.1 } });
    const [before, without, with_] = [tinyState(hyper), plain.state, decayed.state].map(
      ({ weights }) => weights.get('model.norm.weight')!.data,
    );
    before!.forEach((weight, i) => expect(without![i]! - with_![i]!).toBeCloseTo(0.05 * 0.1 * weight, 6));
  });

  it.each([
    { steps: 0, rate: 0.025 },
    { steps: 1, rate: 0.05 },
    { steps: 6, rate: 0.025 },
    { steps: 10, rate: 0 },
  ])('follows the schedule: $rate after $steps steps', async ({ steps, rate }) => {
    const hyper = tuned({ schedule: { kind: 'linear', warmupSteps: 2, totalSteps: 10 } });
    const state = tinyState(hyper);
    const at = { ...state, progress: { ...state.progress, steps } };
    const { metrics } = await step(await threeSamples(hyper), hyper, at);
    expect(metrics['learning_rate']).toBeCloseTo(rate, 12);
  });
});

describe('a step that is not finite', () => {
  const refused = async (samples: TrainingSample[], hyper: Hyperparameters): Promise<StepResult> => {
    const state = tinyState(hyper);
    const result = await trainStep(tinyModel(backend, hyper), samples, state, hyper, 0);
    // The moments are used up.
    expect({ ...state, optimizer: null }).toEqual({ ...tinyState(hyper), optimizer: null });
    return result;
  };

  it('names the sample whose gradient alone is not, though its loss is', async () => {
    const hyper = full();
    const plain = tinyState(hyper);
    const gain = plain.weights.get('model.norm.weight')!;
    // Hidden states so large that a finite loss has a gradient beyond float32.
    const large = { ...gain, data: gain.data.map((x) => 100 * x) };
    const state = { ...plain, weights: new Map(plain.weights).set('model.norm.weight', large) };
    const model = tinyModel(backend, hyper);
    const samples = await onPolicy(model, state, [sample([4, 5, 6]), sample([7, 8]), sample([9])]);
    const [good, bad, other] = [samples[0]!, { ...samples[1]!, reward: -3e38 }, samples[2]!];
    expect(await trainStep(model, [good, bad, other], state, hyper, 0)).toEqual({ ok: false, culprits: [bad] });
  });

  it('D62: names the sample with a NaN, wherever it comes from', async () => {
    const hyper = tuned();
    const [good, other] = await threeSamples(hyper);
    const nan = { ...other!, rolloutLogProbs: Float32Array.of(-1, NaN) };
    expect(await refused([good!, nan], hyper)).toEqual({ ok: false, culprits: [nan] });
    const taught = { ...other!, teacherLogProbs: Float32Array.of(-1, -Infinity) };
    expect(await refused([good!, taught], hyper)).toEqual({ ok: false, culprits: [taught] });
  });

  it('refuses all where the new weights are not finite', async () => {
    const hyper = tuned({ learningRate: 1e300 });
    const samples = await threeSamples(hyper);
    expect(await refused(samples, hyper)).toEqual({ ok: false, culprits: samples });
  });
});
