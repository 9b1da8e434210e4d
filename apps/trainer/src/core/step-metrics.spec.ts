import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hyperparameters, trainingSample } from '../testing/fixtures';
import { stepMetrics, timingMetrics, type StepFacts } from './step-metrics';
import { ownMetrics, STEP_METRICS, stepMetricOf, type StepMetric } from './step-metrics-table';

const rolloutLogProbs = Float32Array.of(-0.5, -1);
const responseIds = Int32Array.of(7, 8);
const rewarded = trainingSample({ case: 'rl', reward: 1, responseIds, rolloutLogProbs, teacherLogProbs: null });
const taught = trainingSample({
  case: 'opd',
  reward: 0,
  responseIds,
  rolloutLogProbs,
  teacherLogProbs: Float32Array.of(0.5, -2),
});
const scalars = { loss: 1.5, policyLoss: 1, clipFraction: 0.25, approxKl: 0.125, klRef: 2, entropy: 0.5 };
const { loss } = hyperparameters();

function metricsOf(over: Partial<StepFacts> = {}): Record<string, number> {
  const samples = over.samples ?? [rewarded, taught];
  return stepMetrics({
    samples,
    batch: { scalars, logProbs: samples.map((sample) => sample.rolloutLogProbs) },
    advantages: [Float64Array.of(1, 1), Float64Array.of(1, -1)],
    oldLogProbs: samples.map((sample) => sample.rolloutLogProbs),
    weights: { rl: 1, opd: 1 },
    advantageOptions: { opdAdvantageLimit: null, rewardBaseline: 0 },
    hyper: hyperparameters({ loss: { ...loss, klCoef: 0.3, entropyCoef: 0.2 } }),
    learningRate: 1e-3,
    gradNorm: 1,
    servedVersion: 0,
    ...over,
  });
}

describe('stepMetrics', () => {
  it('D5: tells of each signal by itself how large its advantages are and how far they spread', () => {
    expect(metricsOf()).toMatchObject({
      advantage_rl_mean: 1,
      advantage_rl_std: 0,
      advantage_opd_mean: 0,
      advantage_opd_std: 1,
      advantage_mean: 0.5,
      reward_mean: 0.5,
    });
  });

  it("the signals' advantages are those that trained: weighted, bounded, less the baseline", () => {
    const metrics = metricsOf({
      weights: { rl: 2, opd: 3 },
      advantageOptions: { opdAdvantageLimit: 0.5, rewardBaseline: 0.25 },
    });
    expect(metrics).toMatchObject({ advantage_rl_mean: 2 * 0.75, advantage_opd_mean: 0, advantage_opd_std: 3 * 0.5 });
  });

  it('the gap of teacher and student is to the old policy as used, and neither weighted nor bounded', () => {
    const recomputed = [rolloutLogProbs, Float32Array.of(-0.5, -2)];
    const metrics = metricsOf({
      weights: { rl: 1, opd: 3 },
      oldLogProbs: recomputed,
      advantageOptions: { opdAdvantageLimit: 0.1, rewardBaseline: 0 },
    });
    expect(metrics['teacher_student_gap_mean']).toBe(0.5);
  });

  it.each([
    {
      why: 'the same log-probs',
      logProbs: [
        [-0.5, -1],
        [-0.5, -1],
      ],
      mean: 0,
      max: 0,
    },
    {
      why: 'one of four off by 2',
      logProbs: [
        [-0.5, -3],
        [-0.5, -1],
      ],
      mean: 0.5,
      max: 2,
    },
    {
      why: 'both ways off by 1',
      logProbs: [
        [0.5, -2],
        [-0.5, -1],
      ],
      mean: 0.5,
      max: 1,
    },
  ])('D3: $why are $mean nats from the rollout’s, at most $max', ({ logProbs, mean, max }) => {
    const metrics = metricsOf({ batch: { scalars, logProbs: logProbs.map((row) => Float32Array.from(row)) } });
    expect(metrics).toMatchObject({
      train_rollout_logprob_abs_diff_mean: mean,
      train_rollout_logprob_abs_diff_max: max,
    });
  });

  it('the parts of the loss add up to it', () => {
    const metrics = metricsOf();
    expect(metrics['loss/kl']).toBeCloseTo(0.6, 12);
    expect(metrics['loss/entropy']).toBeCloseTo(-0.1, 12);
    expect(metrics['loss/policy']! + metrics['loss/kl']! + metrics['loss/entropy']!).toBeCloseTo(
      metrics['loss/total']!,
      12,
    );
  });

  it('a term that the loss does not have adds 0; what was not computed has no entry', () => {
    const { klRef: _, entropy: __, ...bare } = scalars;
    const batch = { scalars: bare, logProbs: [rolloutLogProbs, rolloutLogProbs] };
    const metrics = metricsOf({ batch, hyper: hyperparameters() });
    expect(metrics).toMatchObject({ 'loss/kl': 0, 'loss/entropy': 0 });
    expect(metrics).not.toHaveProperty('kl');
    expect(metrics).not.toHaveProperty('entropy');
  });

  it.each([
    { signal: 'teacher', samples: [rewarded], missing: ['advantage_opd_mean', 'teacher_student_gap_mean'] },
    { signal: 'reward', samples: [taught], missing: ['advantage_rl_mean', 'advantage_rl_std'] },
  ])('a signal that no sample carries has no entry: $signal', ({ samples, missing }) => {
    const metrics = metricsOf({ samples, advantages: [Float64Array.of(1, 1)] });
    for (const name of missing) expect(metrics).not.toHaveProperty(name);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });

  it('counts samples by case, tokens, lengths, lag and padding', () => {
    const old = trainingSample({ policyVersion: 3, promptIds: Int32Array.of(1, 2, 3), responseIds, rolloutLogProbs });
    const samples = [{ ...taught, policyVersion: 5 }, old];
    const advantages = samples.map(() => Float64Array.of(0, 0));
    expect(metricsOf({ samples, advantages, servedVersion: 5 })).toMatchObject({
      samples: 2,
      'samples/opdRl': 0,
      'samples/opd': 1,
      'samples/rl': 1,
      tokens: 7 + 2 + 3 + 2,
      response_tokens: 4,
      response_length_mean: 2,
      response_length_max: 2,
      staleness_mean: 1,
      staleness_max: 2,
      // Two rows of 64 positions, of which 8 and 4 are read.
      padding_share: 1 - 12 / 128,
    });
  });
});

describe('timingMetrics', () => {
  it.each([
    { seconds: 2, expected: { step_seconds: 2, tokens_per_second: 5 }, why: 'tokens over seconds' },
    { seconds: 0, expected: { step_seconds: 0 }, why: 'no rate of a step that took no time' },
  ])('$why', ({ seconds, expected }) => {
    expect(timingMetrics({ tokens: 10 }, seconds)).toEqual(expected);
  });
});

describe('STEP_METRICS', () => {
  it('gives every number a gauge of its own', () => {
    const gauges = Object.values(STEP_METRICS).map((entry) => JSON.stringify({ ...entry, help: '', unit: '' }));
    expect(new Set(gauges).size).toBe(gauges.length);
  });

  it('has what a step gives', () => {
    const metrics = { ...metricsOf(), ...timingMetrics(metricsOf(), 1) };
    expect(Object.keys(metrics).filter((name) => !Object.hasOwn(STEP_METRICS, name))).toEqual([]);
  });

  it('is the table of docs/metrics.md', () => {
    const page = readFileSync(join(__dirname, '../../../../docs/metrics.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([^`]+)` +\| ([^ |]+) +\|.*\| `(hindcast_trainer_step_[^`]+)` +\|$/gm)];
    const table = Object.entries<StepMetric>(STEP_METRICS).map(([name, { unit, gauge, labels = {} }]) => {
      const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      return [name, unit, `hindcast_${gauge}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''}`];
    });
    expect(rows.map(([, ...row]) => row)).toEqual(table);
  });

  it.each([
    { name: 'grad_norm', gauge: 'trainer_step_grad_norm', labels: undefined },
    { name: 'samples/opd', gauge: 'trainer_step_case_samples', labels: { case: 'opd' } },
    { name: 'epoch_12/approx_kl', gauge: 'trainer_step_epoch_approx_kl_nats', labels: { epoch: '12' } },
  ])('the row of $name', ({ name, gauge, labels }) => {
    expect(stepMetricOf(name)).toMatchObject({ gauge, ...(labels && { labels }) });
  });

  it('leaves out what is no part of the step itself', () => {
    const later = { drift_nats: 1, 'epoch_0/approx_kl': 1, 'epoch_1/loss': 1, toString: 1 };
    expect(ownMetrics({ ...later, grad_norm: 2, 'loss/total': 3 })).toEqual([
      ['grad_norm', 2],
      ['loss/total', 3],
    ]);
  });
});
