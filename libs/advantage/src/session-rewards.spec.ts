import fc from 'fast-check';
import {
  outcomePlusMean,
  outcomePlusStep,
  sessionRewards,
  standardised,
  type SessionRewardRule,
  type StepScore,
} from './session-rewards';

const rule = (over: Partial<SessionRewardRule> = {}): SessionRewardRule => ({
  mode: 'outcome-plus-mean',
  coefficient: 1,
  discount: 1,
  standardise: false,
  ...over,
});
const step = (over: Partial<SessionRewardRule> = {}): SessionRewardRule => rule({ mode: 'outcome-plus-step', ...over });

// Worked by hand; every number of these rows is exact in binary.
describe('sessionRewards', () => {
  it.each<{ outcome: number; steps: StepScore[]; by: SessionRewardRule; rewards: number[]; why: string }>([
    { outcome: 1, steps: [1, -1, 1, 1], by: rule(), rewards: [1.5, 1.5, 1.5, 1.5], why: '1 + (1 − 1 + 1 + 1)/4' },
    { outcome: -1, steps: [1, 0, 1, 0], by: rule(), rewards: [-0.5, -0.5, -0.5, -0.5], why: '−1 + 2/4: always added' },
    { outcome: 1, steps: [1, -1], by: rule(), rewards: [1, 1], why: 'a mean of 0 adds nothing' },
    { outcome: 1, steps: [1, null, null], by: rule(), rewards: [2, 2, 2], why: 'abstaining steps are not in the mean' },
    { outcome: 0.25, steps: [null, null], by: rule(), rewards: [0.25, 0.25], why: 'no score: the outcome alone' },
    { outcome: 1, steps: [], by: rule(), rewards: [], why: 'no turns, no rewards' },
    { outcome: -1, steps: [1, 0.5], by: rule({ coefficient: 0.5 }), rewards: [-0.625, -0.625], why: '−1 + 0.5 · 0.75' },
    { outcome: -1, steps: [1, 1], by: rule({ coefficient: 0 }), rewards: [-1, -1], why: 'c = 0 is the outcome alone' },
    {
      outcome: 1,
      steps: [1, -1],
      by: rule({ discount: 0.5, standardise: true }),
      rewards: [1, 1],
      why: 'discount and standardisation are for steps',
    },
    { outcome: 1, steps: [1, -1, 0], by: step(), rewards: [2, 0, 1], why: '1 + sₜ' },
    {
      outcome: 1,
      steps: [0, 0, 0, 0],
      by: step({ discount: 0.5 }),
      rewards: [0.125, 0.25, 0.5, 1],
      why: '0.5³, 0.5², 0.5, 1: the last turn has the whole outcome',
    },
    {
      outcome: -1,
      steps: [1, null, -1],
      by: step({ discount: 0.5, coefficient: 0.25 }),
      rewards: [0, -0.5, -1.25],
      why: '−0.25 + 0.25; −0.5 alone, and it counts as a step; −1 − 0.25',
    },
    {
      outcome: 0.5,
      steps: [1, -1, 1, -1],
      by: step({ standardise: true, coefficient: 2 }),
      rewards: [2.5, -1.5, 2.5, -1.5],
      why: 'μ 0, σ 1',
    },
    {
      outcome: 1,
      steps: [1, 0, null],
      by: step({ standardise: true }),
      rewards: [2, 0, 1],
      why: 'μ 0.5, σ 0.5 over two steps',
    },
    { outcome: 1, steps: [1, 1, 1], by: step({ standardise: true }), rewards: [1, 1, 1], why: 'σ = 0 gives 0 each' },
    { outcome: -1, steps: [null], by: step({ standardise: true }), rewards: [-1], why: 'nothing to standardise' },
  ])('$by.mode of $outcome and $steps → $rewards: $why', ({ outcome, steps, by, rewards }) => {
    expect(sessionRewards(outcome, steps, by)).toEqual(rewards);
  });

  it.each([
    { outcome: 1.01, steps: [1], by: rule(), why: 'an outcome above 1' },
    { outcome: NaN, steps: [1], by: rule(), why: 'no outcome' },
    { outcome: 1, steps: [NaN], by: rule(), why: 'a score that is missing, which is null and not NaN' },
    { outcome: 1, steps: [1], by: rule({ coefficient: Infinity }), why: 'a coefficient without end' },
    { outcome: 1, steps: [1], by: step({ discount: 0 }), why: 'a discount that leaves nothing' },
    { outcome: 1, steps: [1], by: step({ discount: 1.1 }), why: 'a discount that adds' },
  ])('refuses $why', ({ outcome, steps, by }) => {
    expect(() => sessionRewards(outcome, steps, by)).toThrow(RangeError);
  });
});

const scores = fc.array(fc.option(fc.double({ min: -1, max: 1, noNaN: true })), { maxLength: 30 });
const outcomes = fc.double({ min: -1, max: 1, noNaN: true });

describe('for any session', () => {
  it('c = 0 and γ = 1 leave the outcome, in either mode', () => {
    fc.assert(
      fc.property(outcomes, scores, (outcome, steps) => {
        const alone = steps.map(() => outcome);
        expect(outcomePlusMean(outcome, steps, 0).map((reward) => reward + 0)).toEqual(
          alone.map((reward) => reward + 0),
        );
        expect(outcomePlusStep(outcome, steps, 0, 1).map((reward) => reward + 0)).toEqual(
          alone.map((reward) => reward + 0),
        );
      }),
    );
  });
  it('standardised scores have mean 0 and spread 1, or are all 0; abstaining steps stay', () => {
    fc.assert(
      fc.property(scores, (steps) => {
        const result = standardised(steps);
        expect(result.map((score) => score === null)).toEqual(steps.map((score) => score === null));
        const given = steps.filter((score) => score !== null);
        const spread = Math.max(...given) - Math.min(...given);
        fc.pre(given.length > 0 && (spread === 0 || spread > 1e-6));
        const standard = result.filter((score) => score !== null);
        const sum = (f: (x: number) => number): number => standard.reduce((total, x) => total + f(x), 0);
        expect(sum((x) => x) / standard.length).toBeCloseTo(0, 6);
        expect(sum((x) => x * x) / standard.length).toBeCloseTo(spread === 0 ? 0 : 1, 6);
      }),
    );
  });
  it('thirds that are all the same are a spread of exactly 0', () => {
    expect(standardised([1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3])).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});
