import fc from 'fast-check';
import { gate, type Decision, type GateRule, type JudgedTurn, type Method } from './gate';

const turn = (over: Partial<JudgedTurn> = {}): JudgedTurn => ({
  hintAccepted: true,
  reward: -1,
  guards: [],
  teacher: 'ok',
  policyVersion: 3,
  sessionHasSample: null,
  ...over,
});
const rule = (over: Partial<GateRule> = {}): GateRule => ({
  method: 'combine',
  currentVersion: 3,
  maxStaleness: 4,
  atLeastOne: false,
  ...over,
});
const label = (decision: Decision): string =>
  decision.keep
    ? `${decision.case} ${decision.reward}${decision.reason === null ? '' : ` ${decision.reason}`}`
    : `drop ${decision.reason}`;
const decide = (judged: JudgedTurn, over: Partial<GateRule> = {}): string => label(gate(judged, rule(over)));

describe('every hint, teacher and reward with every method', () => {
  it.each<{ hint: boolean; teacher: string; reward: number; combine: string; binary: string; opd: string }>([
    { hint: true, teacher: 'ok', reward: 1, combine: 'opdRl 1', binary: 'rl 1', opd: 'opd 0' },
    { hint: true, teacher: 'ok', reward: -1, combine: 'opdRl -1', binary: 'rl -1', opd: 'opd 0' },
    { hint: true, teacher: 'ok', reward: 0, combine: 'opd 0', binary: 'drop no-signal', opd: 'opd 0' },
    { hint: true, teacher: 'ok', reward: 0.35, combine: 'opdRl 0.35', binary: 'rl 0.35', opd: 'opd 0' },
    {
      hint: true,
      teacher: 'too-long',
      reward: 1,
      combine: 'rl 1 teacher:too-long',
      binary: 'rl 1',
      opd: 'drop teacher:too-long',
    },
    {
      hint: true,
      teacher: 'too-long',
      reward: -1,
      combine: 'rl -1 teacher:too-long',
      binary: 'rl -1',
      opd: 'drop teacher:too-long',
    },
    {
      hint: true,
      teacher: 'too-long',
      reward: 0,
      combine: 'drop teacher:too-long',
      binary: 'drop no-signal',
      opd: 'drop teacher:too-long',
    },
    {
      hint: true,
      teacher: 'ok',
      reward: NaN,
      combine: 'opd 0 reward-not-finite',
      binary: 'drop reward-not-finite',
      opd: 'opd 0',
    },
    { hint: false, teacher: 'none', reward: 1, combine: 'rl 1', binary: 'rl 1', opd: 'drop no-hint' },
    { hint: false, teacher: 'none', reward: -1, combine: 'rl -1', binary: 'rl -1', opd: 'drop no-hint' },
    {
      hint: false,
      teacher: 'none',
      reward: 0,
      combine: 'drop no-signal',
      binary: 'drop no-signal',
      opd: 'drop no-hint',
    },
    { hint: false, teacher: 'none', reward: -1.5, combine: 'rl -1.5', binary: 'rl -1.5', opd: 'drop no-hint' },
    {
      hint: false,
      teacher: 'none',
      reward: Infinity,
      combine: 'drop reward-not-finite',
      binary: 'drop reward-not-finite',
      opd: 'drop no-hint',
    },
  ])('hint $hint, teacher $teacher, reward $reward', ({ hint, teacher, reward, combine, binary, opd }) => {
    const judged = turn({ hintAccepted: hint, reward, teacher });
    expect(decide(judged)).toBe(combine);
    expect(decide(judged, { method: 'binary-rl' })).toBe(binary);
    expect(decide(judged, { method: 'opd' })).toBe(opd);
    expect(decide(judged, { method: 'none' })).toBe('drop method-none');
  });
});

describe('staleness', () => {
  it.each([
    { lag: 4, decision: 'opdRl -1', why: 'the bound itself is accepted' },
    { lag: 5, decision: 'drop stale', why: 'one more is not' },
  ])('a lag of $lag versions: $why', ({ lag, decision }) => {
    expect(decide(turn({ policyVersion: 2 }), { currentVersion: 2 + lag })).toBe(decision);
  });
});

describe('a guard', () => {
  it.each<{ method: Method; reward: number; decision: string; why: string }>([
    { method: 'combine', reward: 1, decision: 'drop guard:format', why: 'what praised the answer is not believed' },
    { method: 'combine', reward: 0.1, decision: 'drop guard:format', why: 'however small the praise' },
    { method: 'combine', reward: Infinity, decision: 'drop guard:format', why: 'however large' },
    { method: 'binary-rl', reward: 1, decision: 'drop guard:format', why: 'with every method' },
    { method: 'opd', reward: 1, decision: 'drop guard:format', why: 'the hint is the same judge’s' },
    { method: 'none', reward: 1, decision: 'drop method-none', why: 'nothing trains anyway' },
    { method: 'combine', reward: -1, decision: 'opdRl -1', why: 'a punishment was not gained by the trick' },
    { method: 'binary-rl', reward: -1, decision: 'rl -1', why: 'a punishment was not gained by the trick' },
    { method: 'combine', reward: 0, decision: 'opd 0', why: 'nothing was gained' },
    { method: 'opd', reward: 0, decision: 'opd 0', why: 'nothing was gained' },
  ])('$method, reward $reward → $decision: $why', ({ method, reward, decision }) => {
    expect(decide(turn({ reward, guards: ['format', 'repetition'] }), { method })).toBe(decision);
  });
  it('is named after staleness', () => {
    expect(decide(turn({ reward: 1, guards: ['format'], policyVersion: -2 }))).toBe('drop stale');
  });
});

describe('the at-least-one rule', () => {
  it.each<{ over: Partial<JudgedTurn>; method?: Method; atLeastOne?: boolean; decision: string; why: string }>([
    { over: {}, decision: 'rl 0 at-least-one', why: 'the session has no sample yet' },
    { over: { sessionHasSample: true }, decision: 'drop no-signal', why: 'it has one' },
    { over: { sessionHasSample: null }, decision: 'drop no-signal', why: 'there is no session' },
    { over: {}, atLeastOne: false, decision: 'drop no-signal', why: 'the rule is off' },
    { over: {}, method: 'combine', decision: 'drop no-signal', why: 'it is a rule of binary RL' },
    { over: {}, method: 'opd', decision: 'drop no-hint', why: 'it is a rule of binary RL' },
    { over: { reward: 1 }, decision: 'rl 1', why: 'a turn with a reward needs no rule' },
    { over: { reward: 1, guards: ['format'] }, decision: 'drop guard:format', why: 'a guarded reward is not 0' },
    { over: { guards: ['format'] }, decision: 'rl 0 at-least-one', why: 'a guard says nothing about reward 0' },
    { over: { reward: NaN }, decision: 'drop reward-not-finite', why: 'a missing number is not 0' },
    { over: { policyVersion: -2 }, decision: 'drop stale', why: 'stale comes first' },
    { over: { hintAccepted: true }, decision: 'rl 0 at-least-one', why: 'binary RL reads no hint' },
  ])(
    '$over ($method, rule $atLeastOne) → $decision: $why',
    ({ over, method = 'binary-rl', atLeastOne = true, decision }) => {
      const judged = turn({ hintAccepted: false, teacher: 'none', reward: 0, sessionHasSample: false, ...over });
      expect(decide(judged, { method, atLeastOne })).toBe(decision);
    },
  );
});

const anyTurn = fc.record({
  hintAccepted: fc.boolean(),
  reward: fc.oneof(fc.constantFrom(-1, 0, -0, 1), fc.double()),
  guards: fc.subarray(['repetition', 'format']),
  teacher: fc.constantFrom('ok', 'none', 'non-finite'),
  policyVersion: fc.nat(9),
  sessionHasSample: fc.constantFrom(true, false, null),
});
const anyRule = fc.record({
  method: fc.constantFrom<Method>('combine', 'binary-rl', 'opd', 'none'),
  currentVersion: fc.constant(9),
  maxStaleness: fc.nat(9),
  atLeastOne: fc.boolean(),
});

describe('for any turn and rule', () => {
  it('a kept sample has a signal, or is the one that the at-least-one rule keeps', () => {
    fc.assert(
      fc.property(anyTurn, anyRule, (judged, any) => {
        const decision = gate(judged, any);
        if (!decision.keep) return decision.reason.length > 0;
        if (!Number.isFinite(decision.reward)) return false;
        if (decision.reason === 'at-least-one') return decision.case === 'rl' && decision.reward === 0;
        return decision.case === 'opd' ? decision.reward === 0 && judged.teacher === 'ok' : decision.reward !== 0;
      }),
    );
  });
  it('a guard never lets a positive reward through', () => {
    fc.assert(
      fc.property(anyTurn, anyRule, (judged, any) => {
        const decision = gate(judged, any);
        return judged.guards.length === 0 || !decision.keep || !(judged.reward > 0);
      }),
    );
  });
});
