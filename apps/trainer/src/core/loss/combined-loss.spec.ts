import { combinedAdvantages, type Score } from '@hindcast/advantage';
import * as tf from '@tensorflow/tfjs';
import { useCpuBackend } from '../../testing/cpu-backend';
import { combinedLoss, type LossInputs, type LossSettings } from './combined-loss';
import type { KlType } from './kl';
import combinedVectors from './reference-combined-loss.json';
import reference from './reference-loss.json';
import { tokenWeights } from './reduction';

interface TestSample {
  readonly logProbs: readonly number[];
  readonly old: readonly number[];
  readonly ref: readonly number[];
  readonly advantages: ArrayLike<number>;
  readonly mask: readonly number[];
}

const settings: LossSettings = {
  clip: { epsilonLow: 0.2, epsilonHigh: 0.28, dualClip: null, logRatioLimit: 20 },
  klType: 'k3',
  klCoef: 0,
  entropyCoef: 0,
  topKCoef: 0,
  measuresKl: false,
  measuresEntropy: false,
};

/** The reference sums over samples: each has weight 1 instead of 1/B. */
const summedOverSamples = (samples: readonly TestSample[]): Float32Array[] =>
  samples.map((sample) => tokenWeights([sample.mask], 'sample-mean')[0]!);
const meanOverSamples = (samples: readonly TestSample[]): Float32Array[] =>
  tokenWeights(
    samples.map((sample) => sample.mask),
    'sample-mean',
  );

function evaluate(
  samples: readonly TestSample[],
  weights: readonly Float32Array[],
  lossSettings: LossSettings,
  entropy: number | null = null,
) {
  return tf.tidy(() => {
    const length = Math.max(...samples.map((sample) => sample.logProbs.length));
    const padded = (rows: readonly ArrayLike<number>[]): tf.Tensor2D =>
      tf.tensor2d(rows.map((values) => Array.from({ length }, (_, t) => values[t] ?? 0)));
    const inputs = (logProbs: tf.Tensor2D): LossInputs => ({
      logProbs,
      oldLogProbs: padded(samples.map((sample) => sample.old)),
      advantages: padded(samples.map((sample) => sample.advantages)),
      weights: padded(weights),
      refLogProbs: padded(samples.map((sample) => sample.ref)),
      entropy: entropy === null ? null : tf.fill([samples.length, length], entropy),
      topK: null,
    });
    const logProbs = padded(samples.map((sample) => sample.logProbs));
    const { rows } = combinedLoss(inputs(logProbs), lossSettings);
    const gradient = tf.grad((x) => combinedLoss(inputs(x as tf.Tensor2D), lossSettings).loss)(logProbs);
    const total = (row: tf.Tensor1D): number => Array.from(row.dataSync()).reduce((sum, x) => sum + x, 0);
    return {
      loss: total(rows.loss),
      rowLoss: Array.from(rows.loss.dataSync()),
      policyLoss: total(rows.policyLoss),
      clipFraction: total(rows.clipFraction),
      approxKl: total(rows.approxKl),
      klRef: total(rows.klRef!),
      gradient: samples.map((sample, i) => Array.from(gradient.slice([i, 0], [1, sample.logProbs.length]).dataSync())),
    };
  });
}

/** Within 1e-5, relative to numbers above 1. */
function near(got: number, expected: number): void {
  expect(Math.abs(got - expected)).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(expected)));
}

beforeAll(useCpuBackend);

describe('combinedLoss', () => {
  it.each(combinedVectors.cases)('agrees with the reference, case $seed: $cfg', (vector) => {
    const { cfg } = vector;
    const samples = vector.samples.map((sample): TestSample => {
      const old = cfg.old === 'rollout' ? sample.rollout : sample.recomputed;
      const weights = { rl: cfg.w_rl, opd: cfg.w_opd };
      const advantages = combinedAdvantages(sample.reward as Score, old, sample.teacher, weights);
      return { logProbs: sample.new, old, ref: sample.ref, advantages, mask: sample.mask };
    });
    const got = evaluate(samples, summedOverSamples(samples), {
      ...settings,
      clip: { ...settings.clip, epsilonLow: cfg.eps_low, epsilonHigh: cfg.eps_high },
      klType: cfg.kl_type as KlType,
      klCoef: cfg.kl_coef,
    });
    near(got.loss, vector.loss_sum_over_samples);
    near(got.policyLoss, vector.metrics.pg_loss);
    near(got.clipFraction, vector.metrics.pg_clipfrac);
    near(got.approxKl, vector.metrics.ppo_kl);
    near(got.klRef, vector.metrics.kl_loss);
    vector.grad_wrt_new.forEach((row, i) => row.forEach((gradient, t) => near(got.gradient[i]![t]!, gradient)));
  });

  it.each(['rollout', 'recomputed'] as const)(
    "combine_loss: agrees with the reference's hand-checked case, old = %s",
    (oldName) => {
      const { inputs, out } = reference.combine_loss;
      const old = oldName === 'rollout' ? inputs.rollout_logp : inputs.trainer_recomputed_logp;
      const expected = out[oldName === 'rollout' ? 'use_rollout_logprobs=True' : 'use_rollout_logprobs=False'];
      const samples = inputs.teacher.map((teacher, i): TestSample => {
        const weights = { rl: inputs.w_rl, opd: inputs.w_opd };
        const advantages = combinedAdvantages(inputs.reward[i] as Score, old, teacher, weights);
        return { logProbs: inputs.new_logp, old, ref: inputs.new_logp, advantages, mask: [1, 1, 1, 1] };
      });
      const got = evaluate(samples, summedOverSamples(samples), settings);
      near(got.loss, expected.loss_sum_over_samples);
      near(got.policyLoss, expected.metrics.pg_loss);
      near(got.clipFraction, expected.metrics.pg_clipfrac);
      near(got.approxKl, expected.metrics.ppo_kl);
      near(got.klRef, expected.metrics.kl_loss);
      expected.grad_wrt_new_logp.forEach((row, i) =>
        row.forEach((gradient, t) => near(got.gradient[i]![t]!, gradient)),
      );
    },
  );

  const sample = (over: Partial<TestSample> = {}): TestSample => ({
    logProbs: [-1, -2],
    old: [-1, -2],
    ref: [-1, -2],
    advantages: [1, 3],
    mask: [1, 1],
    ...over,
  });

  it('at ρ = 1 is minus the mean over samples of the mean advantage', () => {
    const samples = [sample(), sample({ advantages: [-1, -1] })];
    const got = evaluate(samples, meanOverSamples(samples), settings);
    near(got.loss, -(2 + -1) / 2);
    near(got.rowLoss[0]!, -1);
    near(got.rowLoss[1]!, 0.5);
  });

  it('adds c_KL times the KL and subtracts c_H times the entropy', () => {
    const samples = [sample({ ref: [-1.5, -1], advantages: [0, 0] })];
    const weights = meanOverSamples(samples);
    near(evaluate(samples, weights, { ...settings, klType: 'k2', klCoef: 0.3 }).loss, (0.3 * (0.125 + 0.5)) / 2);
    near(evaluate(samples, weights, { ...settings, entropyCoef: 0.1 }, 2).loss, -0.2);
  });

  it('a masked position changes neither loss nor gradient', () => {
    const masked = (wild: number): TestSample =>
      sample({ logProbs: [-1, wild], old: [-1, wild / 2], advantages: [1, 9], mask: [1, 0] });
    const [mild, wild] = [-1, -50].map((value) => {
      const samples = [masked(value), sample()];
      return evaluate(samples, meanOverSamples(samples), { ...settings, klCoef: 0.3 });
    });
    expect(wild!.loss).toBe(mild!.loss);
    expect(wild!.gradient).toEqual(mild!.gradient);
    expect(Math.abs(wild!.gradient[0]![1]!)).toBe(0);
  });

  it('D60: teacher log-probs change the loss, except with w_opd = 0', () => {
    const lossWith = (teacher: number[], opd: number): number => {
      const advantages = combinedAdvantages(1, [-1, -2], teacher, { rl: 1, opd });
      const samples = [sample({ advantages })];
      return evaluate(samples, meanOverSamples(samples), settings).loss;
    };
    expect(lossWith([-0.5, -2], 1)).not.toBe(lossWith([-0.4, -2], 1));
    expect(lossWith([-0.5, -2], 0)).toBe(lossWith([-0.4, -2], 0));
  });

  it('D62: the KL to the old policy is bounded on either side, and a NaN is not hidden', () => {
    const klOf = (logProb: number, old: number): number => {
      const samples = [sample({ logProbs: [logProb, -1], old: [old, -1] })];
      return evaluate(samples, meanOverSamples(samples), settings).approxKl;
    };
    expect(klOf(-0.1, -200)).toBe(-20 / 2);
    expect(klOf(-200, -0.1)).toBe(20 / 2);
    expect(klOf(NaN, -1)).toBeNaN();
  });

  it('D63: A = 0 across a gap of 800 nats adds exactly 0', () => {
    const samples = [sample({ logProbs: [0, -1], old: [-800, -1], advantages: [0, 0] })];
    expect(Math.abs(evaluate(samples, meanOverSamples(samples), settings).loss)).toBe(0);
  });

  it('adds the weighted top-K loss of the samples that have one', () => {
    const logs = (probabilities: number[]): number[] => probabilities.map(Math.log);
    tf.tidy(() => {
      const { loss, rows } = combinedLoss(
        {
          logProbs: tf.tensor2d([[-1], [-1]]),
          oldLogProbs: tf.tensor2d([[-1], [-1]]),
          advantages: tf.tensor2d([[1], [1]]),
          weights: tf.tensor2d([[0.5], [0.5]]),
          refLogProbs: null,
          entropy: null,
          topK: {
            logProbs: tf.tensor3d([[logs([0.5, 0.25])], [logs([0.5, 0.25])]]),
            teacherLogProbs: tf.tensor3d([[logs([0.25, 0.25])], [logs([0.125, 0.125])]]),
            weights: tf.tensor2d([[0.5], [0]]),
          },
        },
        { ...settings, topKCoef: 3 },
      );
      // The reverse KL of the first sample is 0.25 ln 2, as top-k-distillation.spec.ts works it out.
      near(rows.topKLoss!.dataSync()[0]!, 0.125 * Math.LN2);
      near(rows.topKLoss!.dataSync()[1]!, 0);
      near(loss.dataSync()[0]!, -1 + 3 * 0.125 * Math.LN2);
    });
  });

  it('D64: a fully masked batch has loss 0 and no gradient', () => {
    const samples = [sample({ mask: [0, 0] })];
    const got = evaluate(samples, meanOverSamples(samples), settings);
    expect(Math.abs(got.loss)).toBe(0);
    expect(got.gradient.flat().every((gradient) => gradient === 0)).toBe(true);
  });

  it('has the gradient of a central finite difference, KL included', () => {
    const base = sample({ logProbs: [-1.1, -1.9], ref: [-0.7, -2.5], advantages: [0.7, -1.3] });
    const withKl = { ...settings, klCoef: 0.3 };
    const lossAt = (logProbs: number[]): number => {
      const samples = [{ ...base, logProbs }];
      return evaluate(samples, meanOverSamples(samples), withKl).loss;
    };
    const { gradient } = evaluate([base], meanOverSamples([base]), withKl);
    const step = 1e-3;
    gradient[0]!.forEach((analytic, t) => {
      const shifted = (by: number): number[] => base.logProbs.map((x, i) => (i === t ? x + by : x));
      expect(analytic).toBeCloseTo((lossAt(shifted(step)) - lossAt(shifted(-step))) / (2 * step), 3);
    });
  });
});
