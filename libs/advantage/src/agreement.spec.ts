import { agreement, type ScoredPair } from './agreement';
import type { Score } from './votes';

const pairs = (...counts: [human: Score, judge: Score, times: number][]): ScoredPair[] =>
  counts.flatMap(([human, judge, times]) => Array.from({ length: times }, () => ({ human, judge })));

describe('agreement', () => {
  it('of fifty pairs by hand: p_o 0.7, p_e 0.5, κ 0.4', () => {
    // The textbook table of two readers (Cohen 1960's form): 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no.
    expect(agreement(pairs([1, 1, 20], [1, -1, 5], [-1, 1, 10], [-1, -1, 15]))).toEqual({
      n: 50,
      confusion: [
        [15, 0, 10],
        [0, 0, 0],
        [5, 0, 20],
      ],
      accuracy: 0.7,
      decided: 50,
      decidedAccuracy: 0.7,
      kappa: 0.4,
    });
  });
  it('counts undecided pairs in the accuracy of all, and not in that of the decided', () => {
    const report = agreement(pairs([1, 1, 3], [1, 0, 1], [0, 0, 1], [0, -1, 2], [-1, 1, 1]));
    expect(report).toMatchObject({ n: 8, accuracy: 4 / 8, decided: 4, decidedAccuracy: 3 / 4 });
    // Rows −1, 0, +1 of the person: 1, 3, 4; columns of the judge: 2, 2, 4. p_e = (1·2 + 3·2 + 4·4)/64 = 24/64.
    expect(report.kappa).toBe((4 * 8 - 24) / (64 - 24));
  });
  it.each<{ given: ScoredPair[]; expected: object; why: string }>([
    {
      given: [],
      expected: { n: 0, accuracy: null, decided: 0, decidedAccuracy: null, kappa: null },
      why: 'nothing was compared',
    },
    {
      given: pairs([1, 1, 9]),
      expected: { accuracy: 1, decidedAccuracy: 1, kappa: null },
      why: 'a judge that always says +1 agrees by chance alone',
    },
    {
      given: pairs([0, 0, 2]),
      expected: { accuracy: 1, decided: 0, decidedAccuracy: null, kappa: null },
      why: 'no pair is decided',
    },
    { given: pairs([1, 1, 1], [-1, -1, 1]), expected: { accuracy: 1, kappa: 1 }, why: 'full agreement' },
    { given: pairs([1, -1, 1], [-1, 1, 1]), expected: { accuracy: 0, kappa: -1 }, why: 'full disagreement' },
    { given: pairs([1, 1, 1], [-1, 1, 1]), expected: { accuracy: 0.5, kappa: 0 }, why: 'a constant judge is chance' },
  ])('$expected where $why', ({ given, expected }) => {
    expect(agreement(given)).toMatchObject(expected);
  });
});
