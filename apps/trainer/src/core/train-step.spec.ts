import { initLora } from '@hindcast/language-model';
import { countKernelCalls } from '@hindcast/tfjs-onnx';
import * as tf from '@tensorflow/tfjs';
import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, seedModel, trainingSample } from '../testing/fixtures';
import { initialAdamState } from './adam';
import type { ComputeBackend } from './compute-backend';
import type { Hyperparameters } from './hyperparameters';
import { PolicyModel } from './policy-model';
import type { TrainedWeights } from './tuning';
import { INITIAL_PROGRESS } from './progress';
import { trainStep, type StepResult, type TrainingState } from './train-step';
import type { TrainingSample } from './training-sample';

type Seed = Awaited<ReturnType<typeof seedModel>>;
type Stepped = Extract<StepResult, { ok: true }>;

let seed: Seed;
let onnx: ComputeBackend;
let plain: PolicyModel;

function modelOf(backend: ComputeBackend, hyper: Hyperparameters): PolicyModel {
  return new PolicyModel({
    backend,
    ...seed,
    tuning: hyper.tuning,
    loss: hyper.loss,
    tokenBudget: hyper.tokenBudget,
  });
}

function freshState(): TrainingState {
  const weights = initLora(seed.config, { rank: 8, alpha: 16, seed: 1 }) as TrainedWeights;
  const optimizer = initialAdamState(new Map([...weights].map(([name, { data }]) => [name, data])));
  return { weights, optimizer, progress: INITIAL_PROGRESS };
}

/** Samples with the log-probs that the base model really gives them. */
async function onPolicy(samples: readonly TrainingSample[]): Promise<TrainingSample[]> {
  const logProbs = await plain.responseLogProbs(samples, null);
  return samples.map((sample, i) => ({ ...sample, rolloutLogProbs: logProbs[i]! }));
}

async function step(samples: readonly TrainingSample[], hyper = hyperparameters(), model = plain): Promise<Stepped> {
  const result = await trainStep(model, samples, freshState(), hyper, 0);
  if (!result.ok) throw new Error('the step was refused');
  return result;
}

const longer = (length: number): Int32Array => Int32Array.from({ length }, (_, t) => 70 + ((7 * t) % 300));

beforeAll(async () => {
  seed = await seedModel();
  onnx = (await chooseBackend('onnx', 1)).backend;
  plain = modelOf(onnx, hyperparameters());
});
afterAll(async () => {
  await onnx.dispose();
});

describe('trainStep on the seed model', () => {
  it('D61: on the first pass with unchanged weights every ratio is 1 within the rounding of a log-prob', async () => {
    const samples = await onPolicy([trainingSample(), trainingSample({ responseIds: longer(30) })]);
    const fresh = await plain.responseLogProbs(samples, freshState().weights);
    samples.forEach(({ rolloutLogProbs }, i) =>
      rolloutLogProbs.forEach((old, t) => expect(Math.abs(Math.exp(fresh[i]![t]! - old) - 1)).toBeLessThan(1e-5)),
    );
    const { metrics } = await step(samples);
    expect(metrics['clip_fraction']).toBe(0);
    expect(Math.abs(metrics['approx_kl']!)).toBeLessThan(1e-5);
    expect(metrics['loss/policy']).toBeCloseTo(-1, 5);
  });

  it('runs in the recorded graph alone: no kernel of cpu or wasm is called', async () => {
    const [sample] = await onPolicy([trainingSample({ responseIds: longer(20) })]);
    const calls = countKernelCalls();
    await step([sample!]);
    const counts = calls.byBackend();
    calls.stop();
    expect(counts['cpu'] ?? 0).toBe(0);
    expect(counts['wasm'] ?? 0).toBe(0);
  });

  it("shifting one token of the teacher's answer by 0.1 shifts that token's advantage by w_opd · 0.1, and no other", async () => {
    const [sample] = await onPolicy([trainingSample()]);
    const wOpd = 0.5;
    const taught = (shift: number): TrainingSample => ({
      ...sample!,
      case: 'opdRl',
      reward: -1,
      teacherLogProbs: Float32Array.from(sample!.rolloutLogProbs, (x, t) => x - 0.25 - (t === 1 ? shift : 0)),
    });
    const hyper = hyperparameters({ wOpd });
    const [before] = (await step([taught(0)], hyper)).advantages;
    const [after] = (await step([taught(0.1)], hyper)).advantages;
    before!.forEach((value, t) => expect(after![t]! - value).toBeCloseTo(t === 1 ? -wOpd * 0.1 : 0, 6));
  });

  it.each([
    { reward: 1 as const, direction: 'raises' },
    { reward: -1 as const, direction: 'lowers' },
  ])('D65: reward $reward $direction the log-prob of every token', async ({ reward }) => {
    const samples = await onPolicy([trainingSample({ reward })]);
    const { state } = await step(samples);
    const [after] = await plain.responseLogProbs(samples, state.weights);
    samples[0]!.rolloutLogProbs.forEach((before, t) => expect(Math.sign(after![t]! - before)).toBe(reward));
  });

  it('D65: a teacher moves only the tokens that it disagrees on, each its own way', async () => {
    const [sample] = await onPolicy([trainingSample()]);
    const teacherLogProbs = Float32Array.from(sample!.rolloutLogProbs, (x, t) => x + (t === 0 ? 2 : t === 1 ? -2 : 0));
    const taught = { ...sample!, case: 'opd' as const, reward: 0 as const, teacherLogProbs };
    const { state, advantages, metrics } = await step([taught]);
    const [after] = await plain.responseLogProbs([taught], state.weights);
    expect(advantages[0]![0]).toBeCloseTo(2, 5);
    expect(advantages[0]![2]).toBe(0);
    expect(after![0]!).toBeGreaterThan(taught.rolloutLogProbs[0]!);
    expect(after![1]!).toBeLessThan(taught.rolloutLogProbs[1]!);
    expect(metrics['advantage_opd_std']).toBeCloseTo(Math.sqrt(2), 5);
    expect(metrics['advantage_rl_mean']).toBeUndefined();
  });

  it('D65: the KL term pulls back to the reference', async () => {
    const hyper = hyperparameters();
    const samples = await onPolicy([trainingSample()]);
    const away = (await step(samples, { ...hyper, learningRate: 0.01 })).state;
    const moved = await plain.responseLogProbs(samples, away.weights);
    const withKl = { ...hyper, wRl: 0, loss: { ...hyper.loss, klCoef: 1 } };
    const model = modelOf(onnx, withKl);
    const current = samples.map((sample, i) => ({ ...sample, rolloutLogProbs: moved[i]! }));
    const result = await trainStep(model, current, { ...freshState(), weights: away.weights }, withKl, 0);
    if (!result.ok) throw new Error('the step was refused');
    const [back] = await plain.responseLogProbs(samples, result.state.weights);
    const distance = (logProbs: Float32Array): number =>
      logProbs.reduce((sum, x, t) => sum + Math.abs(x - samples[0]!.rolloutLogProbs[t]!), 0);
    expect(result.metrics['kl']).toBeGreaterThan(0);
    expect(distance(back!)).toBeLessThan(distance(moved[0]!));
  });

  it('cut into micro-batches by a token budget gives the gradients of the whole batch', async () => {
    const samples = await onPolicy([
      trainingSample(),
      trainingSample({ responseIds: longer(100), reward: -1 }),
      trainingSample({ responseIds: longer(40) }),
    ]);
    const small = hyperparameters({ tokenBudget: 128 });
    const whole = await step(samples);
    const cut = await step(samples, small, modelOf(onnx, small));
    expect(cut.metrics['loss/total']).toBeCloseTo(whole.metrics['loss/total']!, 5);
    expect(cut.metrics['grad_norm']! / whole.metrics['grad_norm']!).toBeCloseTo(1, 4);
  });

  it('D58: means are over the samples that are there, not over the batch size', async () => {
    const [sample] = await onPolicy([trainingSample()]);
    const one = await step([sample!]);
    const twice = await step([sample!, { ...sample!, turnId: 'again' }]);
    expect(twice.metrics['loss/total']).toBeCloseTo(one.metrics['loss/total']!, 6);
    expect(twice.metrics['grad_norm']! / one.metrics['grad_norm']!).toBeCloseTo(1, 4);
  });

  it('recomputed log-probs replace the rollout as π_old, and leave a sample without teacher at exactly its reward', async () => {
    const { advantages, oldLogProbs, metrics } = await step(
      [trainingSample()],
      hyperparameters({ oldLogProbs: 'recomputed' }),
    );
    expect([...advantages[0]!]).toEqual([1, 1, 1, 1]);
    expect(oldLogProbs[0]![0]).toBeLessThan(-2);
    expect(Math.abs(metrics['approx_kl']!)).toBeLessThan(1e-5);
    expect(metrics['train_rollout_logprob_abs_diff_mean']).toBeGreaterThan(1);
  });

  it('refuses a step that is not finite, names the sample, and changes nothing', async () => {
    const [good, bad] = await onPolicy([trainingSample(), trainingSample()]);
    const infinite = { ...bad!, teacherLogProbs: bad!.rolloutLogProbs.map((x) => x - 3e38) };
    const before = freshState();
    const refused = await trainStep(plain, [good!, infinite], before, hyperparameters({ wOpd: 1e3 }), 0);
    expect(refused).toEqual({ ok: false, culprits: [infinite] });
    expect(before).toEqual(freshState());
  });

  it('overfits: twenty steps on a rewarded answer make it likely, at the expense of a punished one', async () => {
    const hyper = hyperparameters({ learningRate: 5e-3 });
    const samples = await onPolicy([
      trainingSample({ reward: 1, responseIds: Int32Array.of(70, 71, 72, 4) }),
      trainingSample({ reward: -1, responseIds: Int32Array.of(90, 91, 92, 4) }),
    ]);
    let state = freshState();
    let current = samples;
    for (let i = 0; i < 20; i++) {
      const result = await trainStep(plain, current, state, hyper, 0);
      if (!result.ok) throw new Error('the step was refused');
      state = result.state;
      const logProbs = await plain.responseLogProbs(current, state.weights);
      current = current.map((sample, k) => ({ ...sample, rolloutLogProbs: logProbs[k]! }));
    }
    const total = (sample: TrainingSample): number => sample.rolloutLogProbs.reduce((sum, x) => sum + x, 0);
    expect(total(current[0]!)).toBeGreaterThan(total(samples[0]!) + 5);
    expect(total(current[1]!)).toBeLessThan(total(samples[1]!) - 5);
    expect(state.optimizer.step).toBe(20);
    expect(state.progress.recentRewards).toHaveLength(10);
  });
});

describe('the balance of the two signals', () => {
  const teacher = (sample: TrainingSample): TrainingSample => ({
    ...sample,
    case: 'opdRl',
    teacherLogProbs: Float32Array.from(sample.rolloutLogProbs, (x, t) => x + (t % 2 === 0 ? 4 : -4)),
  });

  it('variance weighs OPD by σ_rl / σ_opd', async () => {
    const [a, b] = await onPolicy([trainingSample(), trainingSample({ reward: -1 })]);
    const { weights, state } = await step([teacher(a!), teacher(b!)], hyperparameters({ balance: 'variance' }));
    expect(weights.rl).toBe(1);
    expect(weights.opd).toBeCloseTo(1 / 4, 5);
    expect(state.progress.signalRatio).toBe(weights.opd);
  });

  it('gradient-norm weighs OPD so that both gradients are equally long', async () => {
    const samples = (await onPolicy([trainingSample(), trainingSample({ responseIds: longer(20) })])).map(teacher);
    const { weights } = await step(samples, hyperparameters({ balance: 'gradient-norm', maxGradNorm: 1e9 }));
    const norm = async (wRl: number, wOpd: number): Promise<number> =>
      (await step(samples, hyperparameters({ wRl, wOpd }))).metrics['grad_norm']!;
    expect((await norm(1, 0)) / (await norm(0, weights.opd))).toBeCloseTo(1, 3);
  });

  it('keeps the previous ratio where a signal is missing', async () => {
    const samples = await onPolicy([trainingSample()]);
    for (const balance of ['variance', 'gradient-norm'] as const) {
      expect((await step(samples, hyperparameters({ balance }))).weights).toEqual({ rl: 1, opd: 1 });
    }
  });

  it('schedule counts the steps that were taken, not the versions', async () => {
    const samples = await onPolicy([trainingSample()]);
    const hyper = hyperparameters({ balance: 'schedule' });
    const after = (steps: number): TrainingState => ({ ...freshState(), progress: { ...INITIAL_PROGRESS, steps } });
    expect(await trainStep(plain, samples, after(500), hyper, 3)).toMatchObject({
      ok: true,
      weights: { rl: 1, opd: 0.1 },
    });
    expect(await trainStep(plain, samples, after(99), hyper, 700)).toMatchObject({
      ok: true,
      weights: { rl: 0.1, opd: 1 },
    });
  });

  it.each([
    { preset: 'balanced' as const, rl: 1, opd: 1 },
    { preset: 'implicit-feedback' as const, rl: 1.5, opd: 0.5 },
    { preset: 'explicit-feedback' as const, rl: 0.5, opd: 1.5 },
  ])('fixed: the preset $preset is w_rl $rl, w_opd $opd, times W_RL and W_OPD', async ({ preset, rl, opd }) => {
    const samples = await onPolicy([trainingSample()]);
    expect((await step(samples, hyperparameters({ preset }))).weights).toEqual({ rl, opd });
    expect((await step(samples, hyperparameters({ preset, wOpd: 0 }))).weights).toEqual({ rl, opd: 0 });
  });
});

describe('the same plain ops on TensorFlow.js itself', () => {
  it('agree with the recorded graph, entropy and KL included, and D66/D68: leave no tensor behind', async () => {
    const { backend } = await chooseBackend('cpu', 1);
    const hyper = hyperparameters();
    const settings = { ...hyper, loss: { ...hyper.loss, klCoef: 0.3, entropyCoef: 0.01 } };
    const whole = seed;
    seed = { ...whole, config: { ...whole.config, layers: 1 } };
    try {
      const before = tf.memory().numTensors;
      const sample = trainingSample({ reward: -1, rolloutLogProbs: Float32Array.of(-9, -8, -12, -11) });
      const recorded = await step([sample], settings, modelOf(onnx, settings));
      const eager = await step([sample], settings, modelOf(backend, settings));
      // Relative for large metrics: the gradient norm of random ids depends on how sure the model is.
      for (const [name, value] of Object.entries(recorded.metrics))
        expect(Math.abs(eager.metrics[name]! - value)).toBeLessThan(5e-5 * Math.max(1, Math.abs(value)));
      expect(recorded.metrics['entropy']).toBeGreaterThan(0);
      const uploaded = tf.memory().numTensors;
      await step([sample], settings, modelOf(backend, settings));
      expect(tf.memory().numTensors).toBe(uploaded);
      await backend.dispose();
      expect(tf.memory().numTensors).toBe(before);
    } finally {
      seed = whole;
    }
  });
});
