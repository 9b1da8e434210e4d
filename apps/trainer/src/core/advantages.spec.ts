import { importanceWeights, sampleAdvantages } from './advantages';

const rollout = Float32Array.of(-0.3, -1.2, -0.1, -0.8);
const teacher = Float32Array.of(-0.1, -0.3, -0.1, -0.2);
const none = { opdAdvantageLimit: null, rewardBaseline: 0 };
const rounded = (advantages: Float64Array): number[] => Array.from(advantages, (a) => Math.round(a * 1e6) / 1e6);

describe('sampleAdvantages', () => {
  it.each([
    { reward: 1 as const, taught: true, options: none, expected: [1.2, 1.9, 1, 1.6], why: 'both signals' },
    { reward: 0 as const, taught: true, options: none, expected: [0.2, 0.9, 0, 0.6], why: 'OPD only' },
    { reward: -1 as const, taught: false, options: none, expected: [-1, -1, -1, -1], why: 'RL only, exactly' },
    {
      reward: 1 as const,
      taught: true,
      options: { ...none, opdAdvantageLimit: 0.5 },
      expected: [1.2, 1.5, 1, 1.5],
      why: '|A_opd| ≤ 0.5',
    },
    {
      reward: 1 as const,
      taught: false,
      options: { ...none, rewardBaseline: 0.25 },
      expected: [0.75, 0.75, 0.75, 0.75],
      why: 'minus the baseline',
    },
    {
      reward: 0 as const,
      taught: true,
      options: { ...none, rewardBaseline: 0.25 },
      expected: [0.2, 0.9, 0, 0.6],
      why: 'no reward, no baseline',
    },
  ])('$why: $expected', ({ reward, taught, options, expected }) => {
    const sample = { reward, rolloutLogProbs: rollout, teacherLogProbs: taught ? teacher : null };
    expect(rounded(sampleAdvantages(sample, rollout, { rl: 1, opd: 1 }, options))).toEqual(expected);
  });
});

describe('importanceWeights', () => {
  it('are the ratio of trainer and engine, truncated from above only', () => {
    const weights = importanceWeights([-1, -1, -1], [-1, -3, -0.5], 2);
    expect([...weights]).toEqual([1, 2, Math.exp(-0.5)]);
  });
});
