import fc from 'fast-check';
import { gate, type Decision, type JudgedTurn, type Method } from './gate';
import type { Score } from './votes';

const turn = (over: Partial<JudgedTurn> = {}): JudgedTurn => ({
  hintAccepted: true,
  evalScore: -1,
  teacher: 'ok',
  policyVersion: 3,
  ...over,
});
const decide = (judged: JudgedTurn, method: Method = 'combine'): Decision =>
  gate(judged, { method, currentVersion: 3, maxStaleness: 4 });
const label = (decision: Decision): string =>
  decision.keep ? `${decision.case} ${decision.reward}` : `drop ${decision.reason}`;

describe('gate', () => {
  it.each<{ hint: boolean; score: Score; combine: string; binary: string; opd: string }>([
    { hint: true, score: 1, combine: 'opdRl 1', binary: 'rl 1', opd: 'opd 0' },
    { hint: true, score: -1, combine: 'opdRl -1', binary: 'rl -1', opd: 'opd 0' },
    { hint: true, score: 0, combine: 'opd 0', binary: 'drop no-signal', opd: 'opd 0' },
    { hint: false, score: 1, combine: 'rl 1', binary: 'rl 1', opd: 'drop no-hint' },
    { hint: false, score: -1, combine: 'rl -1', binary: 'rl -1', opd: 'drop no-hint' },
    { hint: false, score: 0, combine: 'drop no-signal', binary: 'drop no-signal', opd: 'drop no-hint' },
  ])('hint $hint, score $score', ({ hint, score, combine, binary, opd }) => {
    const judged = turn({ hintAccepted: hint, evalScore: score, teacher: hint ? 'ok' : 'none' });
    expect(label(decide(judged, 'combine'))).toBe(combine);
    expect(label(decide(judged, 'binary-rl'))).toBe(binary);
    expect(label(decide(judged, 'opd'))).toBe(opd);
    expect(label(decide(judged, 'none'))).toBe('drop method-none');
  });

  it.each([
    {
      evalScore: -1 as Score,
      expected: { keep: true, case: 'rl', reward: -1, reason: 'teacher:template-mismatch' },
      why: 'the reward still trains',
    },
    { evalScore: 0 as Score, expected: { keep: false, reason: 'teacher:template-mismatch' }, why: 'nothing is left' },
  ])('a failed teacher degrades the sample: $why', ({ evalScore, expected }) => {
    expect(decide(turn({ evalScore, teacher: 'template-mismatch' }))).toEqual(expected);
  });

  it.each([
    { lag: 4, stale: false, why: 'the bound itself is accepted' },
    { lag: 5, stale: true, why: 'one more is not' },
  ])('a lag of $lag versions: $why', ({ lag, stale }) => {
    const decision = gate(turn({ policyVersion: 2 }), { method: 'combine', currentVersion: 2 + lag, maxStaleness: 4 });
    expect(decision.keep).toBe(!stale);
    if (stale) expect(decision.reason).toBe('stale');
  });

  it('never keeps a sample without a signal', () => {
    fc.assert(
      fc.property(
        fc.record({
          hintAccepted: fc.boolean(),
          evalScore: fc.constantFrom<Score>(-1, 0, 1),
          teacher: fc.constantFrom('ok', 'none', 'non-finite'),
          policyVersion: fc.nat(9),
        }),
        fc.constantFrom<Method>('combine', 'binary-rl', 'opd', 'none'),
        (judged, method) => {
          const decision = gate(judged, { method, currentVersion: 9, maxStaleness: 4 });
          if (!decision.keep) return decision.reason.length > 0;
          return decision.reward !== 0 || (judged.hintAccepted && judged.teacher === 'ok' && decision.case === 'opd');
        },
      ),
    );
  });
});
