import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Method } from './gate';
import { RECORDED_TURNS, trainedBy, type RecordedTurn, type Trained } from './testing/recorded-turns';

const METHODS: readonly Method[] = ['combine', 'binary-rl', 'opd', 'none'];

/** Case, reward and the first two advantages, or why not; then what needs explaining. */
function cell({ decision, advantages }: Trained): string {
  if (!decision.keep) return `${decision.reason}`;
  const first = Array.from(advantages!.slice(0, 2), (a) => Number(a.toFixed(2)));
  const why = decision.reason === null ? '' : ` (${decision.reason})`;
  return `${decision.case} r=${decision.reward} A=${first.join(', ')}${why}`;
}

describe('the three methods, and none, on the same recorded turns', () => {
  const expected: Record<Method, string>[] = [
    { combine: 'opdRl r=1 A=1.2, 1.9', 'binary-rl': 'rl r=1 A=1, 1', opd: 'opd r=0 A=0.2, 0.9', none: 'method-none' },
    {
      combine: 'opdRl r=-1 A=-0.8, -0.1',
      'binary-rl': 'rl r=-1 A=-1, -1',
      opd: 'opd r=0 A=0.2, 0.9',
      none: 'method-none',
    },
    { combine: 'opd r=0 A=0.2, 0.9', 'binary-rl': 'no-signal', opd: 'opd r=0 A=0.2, 0.9', none: 'method-none' },
    { combine: 'rl r=1 A=1, 1', 'binary-rl': 'rl r=1 A=1, 1', opd: 'no-hint', none: 'method-none' },
    { combine: 'rl r=-1 A=-1, -1', 'binary-rl': 'rl r=-1 A=-1, -1', opd: 'no-hint', none: 'method-none' },
    { combine: 'no-signal', 'binary-rl': 'no-signal', opd: 'no-hint', none: 'method-none' },
    {
      combine: 'rl r=1 A=1, 1 (teacher:template-mismatch)',
      'binary-rl': 'rl r=1 A=1, 1',
      opd: 'teacher:template-mismatch',
      none: 'method-none',
    },
    {
      combine: 'teacher:template-mismatch',
      'binary-rl': 'no-signal',
      opd: 'teacher:template-mismatch',
      none: 'method-none',
    },
    { combine: 'stale', 'binary-rl': 'stale', opd: 'stale', none: 'method-none' },
    { combine: 'no-signal', 'binary-rl': 'rl r=0 A=0, 0 (at-least-one)', opd: 'no-hint', none: 'method-none' },
    { combine: 'no-signal', 'binary-rl': 'no-signal', opd: 'no-hint', none: 'method-none' },
    { combine: 'rl r=1 A=1, 1', 'binary-rl': 'rl r=1 A=1, 1', opd: 'no-hint', none: 'method-none' },
    {
      combine: 'opdRl r=0.35 A=0.55, 1.25',
      'binary-rl': 'rl r=0.35 A=0.35, 0.35',
      opd: 'opd r=0 A=0.2, 0.9',
      none: 'method-none',
    },
    { combine: 'guard:format', 'binary-rl': 'guard:format', opd: 'guard:format', none: 'method-none' },
    { combine: 'rl r=-1 A=-1, -1', 'binary-rl': 'rl r=-1 A=-1, -1', opd: 'no-hint', none: 'method-none' },
  ];
  const cells = Object.fromEntries(METHODS.map((method) => [method, trainedBy(method).map(cell)]));

  it.each(RECORDED_TURNS.map(({ what }, i) => ({ what, i })))('$what', ({ i }) => {
    expect(Object.fromEntries(METHODS.map((method) => [method, cells[method]![i]]))).toEqual(expected[i]);
  });

  it('are what docs/methods.md prints', () => {
    const page = readFileSync(join(__dirname, '../../../docs/methods.md'), 'utf8');
    const printed = page
      .split('\n')
      .filter((line) => /^\| \d+ /.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((part) => part.trim()),
      );
    expect(printed).toEqual(
      RECORDED_TURNS.map((turn, i) => [
        `${i + 1}`,
        turn.what,
        turn.session ?? '–',
        `${turn.reward}`,
        ...METHODS.slice(0, 3).map((method) => cells[method]![i]!),
      ]),
    );
  });
});

describe('a replay', () => {
  const logProbs = fc.array(fc.float({ min: -30, max: 0, noNaN: true }), { minLength: 4, maxLength: 4 });
  const anyTurn: fc.Arbitrary<RecordedTurn> = fc.record({
    what: fc.constant(''),
    session: fc.constantFrom('a', 'b', null),
    reward: fc.oneof(fc.constantFrom(-1, 0, 1), fc.double({ min: -2, max: 2, noNaN: true })),
    teacher: fc.oneof(logProbs, fc.constantFrom('too-long', null)),
    rollout: logProbs,
    lag: fc.nat(6),
    guards: fc.subarray(['repetition', 'format']),
  });
  const bits = (trained: Trained[]): string =>
    JSON.stringify(
      trained.map(({ decision, advantages }) => [
        decision,
        advantages && Buffer.from(advantages.buffer).toString('hex'),
      ]),
    );

  it('of equal turns gives equal decisions and the same bits of every advantage, and changes no turn', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 30 }), fc.constantFrom(...METHODS), (turns, method) => {
        const before = structuredClone(turns);
        const first = bits(trainedBy(method, turns));
        expect(turns).toEqual(before);
        expect(bits(trainedBy(method, structuredClone(turns)))).toBe(first);
      }),
    );
  });

  it('decides every turn exactly once', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 30 }), fc.constantFrom(...METHODS), (turns, method) => {
        const trained = trainedBy(method, turns);
        const kept = trained.filter(({ decision }) => decision.keep).length;
        const dropped = trained.filter(({ decision }) => !decision.keep && decision.reason !== '').length;
        expect(kept + dropped).toBe(turns.length);
        expect(trained.every(({ decision, advantages }) => decision.keep === (advantages !== null))).toBe(true);
      }),
    );
  });

  it('keeps at most one turn of a session by the at-least-one rule, and only before any other', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 30 }), (turns) => {
        const trained = trainedBy('binary-rl', turns);
        for (const session of ['a', 'b']) {
          const kept = trained.filter(({ decision }, i) => turns[i]!.session === session && decision.keep);
          expect(kept.findLastIndex(({ decision }) => decision.reason === 'at-least-one')).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});
