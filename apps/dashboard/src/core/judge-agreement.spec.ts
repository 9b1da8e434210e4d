import type { JudgeStatistics } from '@hindcast/contracts';
import { kindStatistics, peopleAgreement, scoreText } from './judge-agreement';

const statistics = (more: Partial<JudgeStatistics>): JudgeStatistics => ({
  days: [],
  votes: [],
  abstentions: [],
  agreement: { turns: 0, unanimous: 0 },
  human: [],
  ...more,
});

describe('votes of a kind', () => {
  const given = statistics({
    votes: [
      { kind: 'eval', score: 1, count: 6 },
      { kind: 'eval', score: -1, count: 2 },
      { kind: 'hint', score: 1, count: 3 },
    ],
    abstentions: [
      { kind: 'eval', reason: 'timeout', count: 1 },
      { kind: 'eval', reason: 'unreadable', count: 1 },
      { kind: 'eval', reason: 'error', count: 2 },
    ],
  });

  it('are shares of the readable ones, abstentions of all', () => {
    expect(kindStatistics('eval', given)).toEqual({
      kind: 'eval',
      readable: 8,
      abstained: 4,
      abstentionRate: 1 / 3,
      votes: [
        { score: -1, count: 2, share: 0.25 },
        { score: 0, count: 0, share: 0 },
        { score: 1, count: 6, share: 0.75 },
      ],
      abstentions: [
        { reason: 'error', count: 2, share: 1 / 6 },
        { reason: 'timeout', count: 1, share: 1 / 12 },
        { reason: 'unreadable', count: 1, share: 1 / 12 },
      ],
    });
  });

  it('of hints know no 0', () => {
    expect(kindStatistics('hint', given).votes.map(({ score }) => score)).toEqual([-1, 1]);
  });

  it('have no share where there is no vote', () => {
    const { votes, abstentionRate } = kindStatistics('eval', statistics({}));
    expect(abstentionRate).toBeNull();
    expect(votes.map(({ share }) => share)).toEqual([null, null, null]);
  });
});

describe('agreement with people', () => {
  it('is Cohen’s kappa of the matrix, worked by hand', () => {
    // p_o = 35/50; p_e = (25·30 + 25·20)/50² = 0.5; κ = (0.7 − 0.5)/0.5
    const { n, matrix, share, kappa } = peopleAgreement([
      { person: 1, judge: 1, count: 20 },
      { person: 1, judge: -1, count: 5 },
      { person: -1, judge: 1, count: 10 },
      { person: -1, judge: -1, count: 15 },
    ]);
    expect(n).toBe(50);
    expect(share).toBe(0.7);
    expect(kappa).toBeCloseTo(0.4, 12);
    expect(matrix).toEqual([
      [15, 0, 10],
      [0, 0, 0],
      [5, 0, 20],
    ]);
  });

  it('is below chance where they contradict each other', () => {
    const { kappa } = peopleAgreement([
      { person: 1, judge: -1, count: 1 },
      { person: -1, judge: 1, count: 1 },
    ]);
    expect(kappa).toBe(-1);
  });

  it('has no kappa where both always say one and the same thing, though they agree', () => {
    expect(peopleAgreement([{ person: 1, judge: 1, count: 9 }])).toMatchObject({ n: 9, share: 1, kappa: null });
  });

  it('has neither without a turn', () => {
    expect(peopleAgreement([])).toMatchObject({ n: 0, share: null, kappa: null });
  });
});

it('a score has its sign', () => {
  expect([scoreText(-1), scoreText(0), scoreText(1)]).toEqual(['−1', '0', '+1']);
});
