import { encodeCapture, type Feedback } from '@hindcast/contracts';
import { capture, scoredTurn, unhintedTurn } from '../testing/turns';
import type { Circumstances } from './decide';
import { decideRecording, recordingOf, recordingTexts, type Recording } from './recording';

const circumstances: Circumstances = {
  rule: { method: 'combine', currentVersion: 3, maxStaleness: 4, atLeastOne: true },
  maxSampleBytes: 8 * 1024 * 1024,
  sessionHasSample: false,
  feedbackReward: 'override',
  evalQuorum: 1,
  outcome: null,
};
const recording = (over: Partial<Recording> = {}): Recording => ({
  turnId: 'a',
  judged: scoredTurn({ evalScore: 1 }),
  feedback: null,
  circumstances,
  capture: encodeCapture(capture()),
  ...over,
});
const person = (reward: -1 | 0 | 1): Feedback => ({ reward, comment: null, correction: null, at: 1 });
const rule = { mode: 'outcome-plus-step', coefficient: 0.5, discount: 0.5, standardise: false } as const;

test.each([
  { why: 'both signals', given: recording() },
  { why: 'a judge that says half a surrogate and a NUL', given: recording({ judged: unhintedTurn() }) },
  { why: 'feedback', given: recording({ feedback: person(-1) }) },
  { why: 'no capture', given: recording({ capture: null }) },
  {
    why: 'an outcome whose numbers no decimal of fewer digits gives',
    given: recording({
      circumstances: { ...circumstances, outcome: { reward: 0.1 + 0.2, rule, steps: [1, null, -1], index: 2 } },
    }),
  },
])('as texts and back it decides the same, to the bit: $why', ({ given }) => {
  const decision = decideRecording(given);
  expect(JSON.stringify(decideRecording(recordingOf(recordingTexts(given))))).toBe(JSON.stringify(decision));
});

test.each([
  { why: 'as it was', overrides: {}, case: 'opdRl', reward: 1, reason: null },
  { why: 'distillation alone', overrides: { rule: { method: 'opd' } }, case: 'opd', reward: 0, reason: null },
  { why: 'binary RL', overrides: { rule: { method: 'binary-rl' } }, case: 'rl', reward: 1, reason: null },
  { why: 'a later version', overrides: { rule: { currentVersion: 8 } }, case: 'drop', reward: null, reason: 'stale' },
  { why: 'a smaller broker', overrides: { maxSampleBytes: 100 }, case: 'drop', reward: null, reason: 'too-large' },
] as const)('with other settings: $why', ({ overrides, ...expected }) => {
  expect(decideRecording(recording(), overrides)).toMatchObject({
    case: expected.case,
    reward: expected.reward,
    reason: expected.reason,
  });
});

test('binary RL keeps a session’s first turn of reward 0, and no second one', () => {
  const zero = recording({ judged: unhintedTurn({ evalScore: 0 }) });
  const overrides = { rule: { method: 'binary-rl' } } as const;
  expect(decideRecording(zero, overrides)).toMatchObject({ case: 'rl', reward: 0, reason: 'at-least-one' });
  expect(decideRecording(zero, { ...overrides, sessionHasSample: true })).toMatchObject({ case: 'drop' });
});

const [vote] = unhintedTurn().evalVotes;
const votes = (...scores: (-1 | 0 | 1)[]) => scores.map((score) => ({ ...vote!, score }));
test.each([
  { why: 'outvoted', mode: 'join', evalVotes: votes(1, 1), said: -1, reward: 1, source: 'joined' },
  { why: 'the one that decides', mode: 'join', evalVotes: votes(1, -1), said: -1, reward: -1, source: 'joined' },
  { why: 'a tie', mode: 'join', evalVotes: votes(1), said: -1, reward: null, source: 'joined' },
  { why: 'the only one', mode: 'join', evalVotes: [], said: 1, reward: 1, source: 'joined' },
  { why: 'the last word', mode: 'override', evalVotes: votes(1, 1), said: -1, reward: -1, source: 'feedback' },
] as const)('a person with FEEDBACK_REWARD=$mode: $why', ({ mode, evalVotes, said, reward, source }) => {
  const judged = unhintedTurn({ evalScore: 1, evalVotes: [...evalVotes], rewardSource: 'joined' });
  const decision = decideRecording(recording({ judged, feedback: person(said) }), { feedbackReward: mode });
  expect([decision.reward, decision.rewardSource]).toEqual([reward, source]);
});

test.each([
  { why: 'the person makes the quorum', evalQuorum: 2, reward: -1 },
  { why: 'even so they are too few', evalQuorum: 3, reward: null },
])('a person joins one vote of the same mind, EVAL_QUORUM=$evalQuorum: $why', ({ evalQuorum, reward }) => {
  const judged = unhintedTurn({ evalScore: 0, evalVotes: votes(-1), rewardSource: 'votes' });
  const decided = recording({
    judged,
    feedback: person(-1),
    circumstances: { ...circumstances, feedbackReward: 'join', evalQuorum },
  });
  expect(decideRecording(recordingOf(recordingTexts(decided))).reward).toBe(reward);
});

test('a verifier and a person need no quorum, as in the judge service', () => {
  const judged = unhintedTurn({ verdicts: [{ verifier: 'exit-code', score: -1, detail: '' }], evalVotes: [] });
  const overrides = { feedbackReward: 'join', evalQuorum: 3 } as const;
  expect(decideRecording(recording({ judged, feedback: person(-1) }), overrides).reward).toBe(-1);
});

test('a recording from before the quorum was recorded has one of 1', () => {
  const { evalQuorum: _, ...before } = circumstances;
  const texts = { ...recordingTexts(recording()), circumstances: JSON.stringify(before) };
  expect(recordingOf(texts).circumstances).toEqual(circumstances);
});

test('a verifier and a person who disagree are a tie', () => {
  const judged = unhintedTurn({ verdicts: [{ verifier: 'exit-code', score: 1, detail: '' }], evalVotes: [] });
  const decision = decideRecording(recording({ judged, feedback: person(-1) }), { feedbackReward: 'join' });
  expect(decision).toMatchObject({ case: 'drop', reason: 'no-signal', rewardSource: 'joined' });
});

test('guards take praise away, and leave blame', () => {
  const guarded = (evalScore: -1 | 1) => recording({ judged: unhintedTurn({ evalScore, guards: ['repetition'] }) });
  expect(decideRecording(guarded(1))).toMatchObject({ case: 'drop', reason: 'guard:repetition' });
  expect(decideRecording(guarded(-1))).toMatchObject({ case: 'rl', reward: -1 });
});

test.each([
  { why: 'the last turn has the whole outcome', index: 2, reward: 0.5 },
  { why: 'earlier ones less of it; no score, no part of one', index: 1, reward: 0.5 },
  { why: 'and so on', index: 0, reward: 0.75 },
])('an outcome: $why', ({ index, reward }) => {
  const outcome = { reward: 1, rule, steps: [1, null, -1], index };
  const decision = decideRecording(recording({ circumstances: { ...circumstances, outcome } }));
  expect([decision.reward, decision.rewardSource]).toEqual([reward, 'outcome']);
});

test('an outcome that was waited for in vain is noted, where nothing else is', () => {
  const expired = { outcome: 'expired' } as const;
  expect(decideRecording(recording(), expired)).toMatchObject({ case: 'opdRl', reason: 'outcome-expired' });
  expect(decideRecording(recording({ judged: unhintedTurn({ evalScore: 0 }) }), expired).reason).toBe('no-signal');
});

test('a reward that no sample may carry is no sample', () => {
  const outcome = { reward: 1, rule: { ...rule, coefficient: 1e6 }, steps: [1], index: 0 };
  expect(decideRecording(recording(), { outcome })).toMatchObject({ case: 'drop', reason: 'reward-out-of-range' });
});
