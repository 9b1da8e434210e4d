import fc from 'fast-check';
import { combinedAdvantages, opdAdvantages } from './advantages';
import type { Score } from './votes';

const rollout = [-0.3, -1.2, -0.1, -0.8];
const teacher = [-0.1, -0.3, -0.1, -0.2];
const close = (got: ArrayLike<number>, expected: number[]): void => {
  expect(got.length).toBe(expected.length);
  expected.forEach((value, t) => expect(got[t]).toBeCloseTo(value, 12));
};

describe('the worked examples of the design', () => {
  it.each([
    { name: 'OPD only', reward: 0 as Score, teacher, expected: [0.2, 0.9, 0, 0.6] },
    { name: 'OPD + RL, r = +1', reward: 1 as Score, teacher, expected: [1.2, 1.9, 1.0, 1.6] },
  ])('$name', ({ reward, teacher: log, expected }) => {
    close(combinedAdvantages(reward, rollout, log, { rl: 1, opd: 1 }), expected);
  });
  it('RL only with r = +1 is exactly [1, 1, 1, 1]: the teacher is the rollout array itself', () => {
    expect([...combinedAdvantages(1, rollout, null, { rl: 1, opd: 1 })]).toEqual([1, 1, 1, 1]);
  });
  it('cascade: a teacher gap of [−5.7, 0.8, 2.1] with r = −1', () => {
    close(combinedAdvantages(-1, [-1, -3, -4], [-6.7, -2.2, -1.9], { rl: 1, opd: 1 }), [-6.7, -0.2, 1.1]);
  });
});

describe('combinedAdvantages', () => {
  const logProbs = fc.array(fc.float({ min: -20, max: 0, noNaN: true }), { minLength: 1, maxLength: 20 });
  it('w_opd = 0 leaves binary RL, w_rl = 0 leaves OPD', () => {
    fc.assert(
      fc.property(logProbs, fc.constantFrom<Score>(-1, 0, 1), (log, reward) => {
        const shifted = log.map((value) => value - 0.5);
        expect([...combinedAdvantages(reward, log, shifted, { rl: 1, opd: 0 })].every((a) => a + 0 === reward)).toBe(
          true,
        );
        expect([...combinedAdvantages(reward, log, shifted, { rl: 0, opd: 1 })]).toEqual(
          [...opdAdvantages(log, shifted)].map((a) => 0 * reward + a),
        );
      }),
    );
  });
  it('refuses what is missing instead of filling it in', () => {
    expect(() => combinedAdvantages(1, [-1, -2], [-1], { rl: 1, opd: 1 })).toThrow('2 rollout log-probs but 1 teacher');
    expect(() => opdAdvantages([-1], [Number.NaN])).toThrow('position 0');
    expect(() => opdAdvantages([-1], [Number.NEGATIVE_INFINITY])).toThrow('position 0');
  });
});
