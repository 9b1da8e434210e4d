import { trainingSample } from '../testing/fixtures';
import type { BatchGradients } from './policy-model';
import { stepMetrics } from './step-metrics';

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
const metricsOf = (logProbs: readonly (readonly number[])[]): Record<string, number> =>
  stepMetrics({
    samples: [rewarded, taught],
    batch: { scalars: {}, logProbs } as unknown as BatchGradients,
    advantages: [Float64Array.of(1, 1), Float64Array.of(1, -1)],
    weights: { rl: 1, opd: 1 },
    learningRate: 1e-3,
    gradNorm: 1,
    servedVersion: 0,
  });

it('D5: tells of each signal by itself how large its advantages are and how far they spread', () => {
  expect(
    metricsOf([
      [-0.5, -1],
      [-0.5, -1],
    ]),
  ).toMatchObject({
    advantage_rl_mean: 1,
    advantage_rl_std: 0,
    advantage_opd_mean: 0,
    advantage_opd_std: 1,
    advantage_mean: 0.5,
  });
});

it.each([
  {
    why: 'the same log-probs',
    logProbs: [
      [-0.5, -1],
      [-0.5, -1],
    ],
    difference: 0,
  },
  {
    why: 'one of four off by 2',
    logProbs: [
      [-0.5, -3],
      [-0.5, -1],
    ],
    difference: 0.5,
  },
])('D3: $why are $difference nats from the rollout’s', ({ logProbs, difference }) => {
  expect(metricsOf(logProbs)['rollout_log_prob_abs_diff']).toBe(difference);
});
