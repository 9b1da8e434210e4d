import { canaryVerdict, versionScore, type JudgedTurn, type VersionScore } from './canary';

const rule = { share: 0.1, minTurns: 4, maxDrop: 0.25, maxWaitMs: 1000 };
const score = (turns: number, mean: number | null): VersionScore => ({ turns, mean });

describe('canaryVerdict', () => {
  it.each([
    { why: 'no turn yet', stable: score(0, null), canary: score(0, null), ms: 0, kind: 'wait' },
    { why: 'the canary has too few', stable: score(90, 1), canary: score(3, -1), ms: 999, kind: 'wait' },
    { why: 'the stable one has too few', stable: score(3, 1), canary: score(90, -1), ms: 999, kind: 'wait' },
    { why: 'better', stable: score(4, 0), canary: score(4, 1), ms: 0, kind: 'promote' },
    { why: 'equal', stable: score(4, 0.5), canary: score(4, 0.5), ms: 0, kind: 'promote' },
    { why: 'lower by just the bound', stable: score(4, 0.75), canary: score(4, 0.5), ms: 0, kind: 'promote' },
    { why: 'lower by more than the bound', stable: score(4, 0.75), canary: score(4, 0.25), ms: 0, kind: 'roll-back' },
    {
      why: 'time is over: what there is decides',
      stable: score(2, 1),
      canary: score(1, -1),
      ms: 1000,
      kind: 'roll-back',
    },
    { why: 'time is over, and it holds up', stable: score(2, 0), canary: score(1, 0), ms: 1000, kind: 'promote' },
    {
      why: 'time is over, nobody used the canary',
      stable: score(9, 1),
      canary: score(0, null),
      ms: 1000,
      kind: 'promote',
    },
    {
      why: 'time is over, nothing to compare with',
      stable: score(0, null),
      canary: score(9, -1),
      ms: 1000,
      kind: 'promote',
    },
  ])('$why: $kind', ({ stable, canary, ms, kind }) => {
    expect(canaryVerdict(stable, canary, ms, rule).kind).toBe(kind);
  });

  it('gives both means, both counts and the bound as its reason', () => {
    const verdict = canaryVerdict(score(40, 0.5), score(12, -0.25), 0, rule);
    expect(verdict).toEqual({
      kind: 'roll-back',
      reason:
        'canary: mean eval score −0.250 over 12 turns, +0.500 over 40 of the version that serves; the bound is 0.25',
    });
  });
});

describe('versionScore', () => {
  const turn = (over: Partial<JudgedTurn>): JudgedTurn => ({
    turnId: 'a',
    policyVersion: 2,
    evalScore: 1,
    isScored: true,
    ...over,
  });
  it.each([
    { why: 'no turns', turns: [], expected: score(0, null) },
    { why: 'a tie counts as 0', turns: [turn({}), turn({ turnId: 'b', evalScore: 0 })], expected: score(2, 0.5) },
    { why: 'all votes abstained', turns: [turn({ evalScore: 0, isScored: false })], expected: score(0, null) },
    {
      why: 'turns of other versions',
      turns: [turn({}), turn({ turnId: 'b', policyVersion: 1 })],
      expected: score(1, 1),
    },
    { why: 'the same turn again: the first counts', turns: [turn({}), turn({ evalScore: -1 })], expected: score(1, 1) },
  ])('$why', ({ turns, expected }) => {
    expect(versionScore(turns, 2)).toEqual(expected);
  });
});
