import {
  Sample,
  encodeLogProbs,
  type Capture,
  type Feedback,
  type ScoredTurn,
  type UnhintedTurn,
} from '@hindcast/contracts';
import { capture, scoredTurn, unhintedTurn } from '../testing/turns';
import { decide, needsCapture, stepScoreOf, type Circumstances, type JudgedTurn } from './decide';

const usual: Circumstances = {
  rule: { method: 'combine', currentVersion: 3, maxStaleness: 4, atLeastOne: false },
  maxSampleBytes: 8 * 1024 * 1024,
  sessionHasSample: null,
  feedbackReward: 'override',
  evalQuorum: 1,
  outcome: null,
};
const good: Capture = capture();
const noTeacher: ScoredTurn['teacher'] = { ok: false, model: 'seed', reason: 'template-mismatch', detail: '' };
const shortTeacher: ScoredTurn['teacher'] = { ok: true, model: 'seed', logProbs: encodeLogProbs([-1]), topK: null };
const feedback = (reward: -1 | 0 | 1): Feedback => ({ reward, comment: null, correction: null, at: 1 });

const rows: {
  why: string;
  turn: JudgedTurn;
  given?: Partial<Circumstances>;
  feedback?: Feedback;
  capture?: Parameters<typeof decide>[3];
  case: string;
  reward: number | null;
  reason: string | null;
}[] = [
  { why: 'hint and score', turn: scoredTurn({ evalScore: 1 }), case: 'opdRl', reward: 1, reason: null },
  { why: 'hint only', turn: scoredTurn({ evalScore: 0 }), case: 'opd', reward: 0, reason: null },
  { why: 'score only', turn: unhintedTurn({ evalScore: -1 }), case: 'rl', reward: -1, reason: null },
  { why: 'neither', turn: unhintedTurn({ evalScore: 0 }), case: 'drop', reward: null, reason: 'no-signal' },
  {
    why: 'teacher failed, score left',
    turn: scoredTurn({ evalScore: 1, teacher: noTeacher }),
    case: 'rl',
    reward: 1,
    reason: 'teacher:template-mismatch',
  },
  {
    why: 'teacher failed, nothing left',
    turn: scoredTurn({ evalScore: 0, teacher: noTeacher }),
    case: 'drop',
    reward: null,
    reason: 'teacher:template-mismatch',
  },
  {
    why: 'teacher scored another number of tokens',
    turn: scoredTurn({ evalScore: -1, teacher: shortTeacher }),
    case: 'rl',
    reward: -1,
    reason: 'teacher:length-mismatch',
  },
  {
    why: 'the same without a score',
    turn: scoredTurn({ evalScore: 0, teacher: shortTeacher }),
    case: 'drop',
    reward: null,
    reason: 'teacher:length-mismatch',
  },
  {
    why: 'a person disagrees with the votes',
    turn: unhintedTurn({ evalScore: 1 }),
    feedback: feedback(-1),
    case: 'rl',
    reward: -1,
    reason: null,
  },
  {
    why: 'a person takes the score back',
    turn: unhintedTurn({ evalScore: 1 }),
    feedback: feedback(0),
    case: 'drop',
    reward: null,
    reason: 'no-signal',
  },
  {
    why: 'capture expired',
    turn: unhintedTurn({ evalScore: 1 }),
    capture: 'capture-missing',
    case: 'drop',
    reward: null,
    reason: 'capture-missing',
  },
  {
    why: 'capture broken',
    turn: scoredTurn({ evalScore: 1 }),
    capture: 'capture-malformed',
    case: 'drop',
    reward: null,
    reason: 'capture-malformed',
  },
  {
    why: 'lag of four',
    turn: unhintedTurn({ evalScore: 1, policyVersion: 3 }),
    given: { rule: { ...usual.rule, currentVersion: 7 } },
    case: 'rl',
    reward: 1,
    reason: null,
  },
  {
    why: 'lag of five',
    turn: unhintedTurn({ evalScore: 1, policyVersion: 3 }),
    given: { rule: { ...usual.rule, currentVersion: 8 } },
    case: 'drop',
    reward: null,
    reason: 'stale',
  },
  {
    why: 'control run',
    turn: scoredTurn({ evalScore: 1 }),
    given: { rule: { ...usual.rule, method: 'none' } },
    case: 'drop',
    reward: null,
    reason: 'method-none',
  },
  {
    why: 'distillation alone',
    turn: scoredTurn({ evalScore: 1 }),
    given: { rule: { ...usual.rule, method: 'opd' } },
    case: 'opd',
    reward: 0,
    reason: null,
  },
  {
    why: 'binary RL alone',
    turn: scoredTurn({ evalScore: 1 }),
    given: { rule: { ...usual.rule, method: 'binary-rl' } },
    case: 'rl',
    reward: 1,
    reason: null,
  },
  {
    why: 'more than the broker takes',
    turn: unhintedTurn({ evalScore: 1 }),
    given: { maxSampleBytes: 4_100 },
    case: 'drop',
    reward: null,
    reason: 'too-large',
  },
];

test.each(rows)('$why: $case', ({ turn, given, feedback: word = null, capture: found, ...expected }) => {
  const circumstances = { ...usual, ...given };
  const decision = decide(turn, word, circumstances, found ?? good);
  expect(decision).toMatchObject({ case: expected.case, reward: expected.reward, reason: expected.reason });
  if (expected.case === 'drop') return void expect(decision.sample).toBeNull();
  expect(needsCapture(turn, word, circumstances)).toBe(true);
  const sample = Sample.parse(decision.sample);
  expect(sample.case).toBe(expected.case);
  expect(sample.reward).toBe(expected.reward);
  expect(sample.rolloutLogProbs.length).toBe(good.responseIds.length);
});

test('a turn without signal needs no capture', () => {
  expect(needsCapture(unhintedTurn({ evalScore: 0 }), null, usual)).toBe(false);
});

test('the sample carries the ids and log-probs of the capture, bit for bit', () => {
  const turn: UnhintedTurn = unhintedTurn({ evalScore: 1 });
  const { sample } = decide(turn, null, usual, good);
  const bytes = Buffer.from(sample!.rolloutLogProbs.base64, 'base64');
  expect(bytes.equals(Buffer.from(good.rolloutLogProbs.slice().buffer))).toBe(true);
  expect(Buffer.from(sample!.responseIds.base64, 'base64').equals(Buffer.from(good.responseIds.slice().buffer))).toBe(
    true,
  );
  expect(Buffer.from(sample!.promptIds.base64, 'base64').equals(Buffer.from(good.promptIds.slice().buffer))).toBe(true);
});

const [readable, unreadable] = unhintedTurn().evalVotes;
test.each<{ why: string; turn: Partial<UnhintedTurn>; said?: -1 | 0 | 1; join?: true; score: -1 | 0 | 1 | null }>([
  { why: 'no vote can be read', turn: { evalScore: 0, evalVotes: [unreadable!] }, score: null },
  { why: 'nobody voted', turn: { evalScore: 0, evalVotes: [] }, score: null },
  { why: 'the votes say 0', turn: { evalScore: 0, evalVotes: [{ ...readable!, score: 0 }] }, score: 0 },
  { why: 'the votes say 1', turn: { evalScore: 1 }, score: 1 },
  { why: 'a person says 0', turn: { evalScore: 1, evalVotes: [] }, said: 0, score: 0 },
  { why: 'a person said 0 to the judge', turn: { evalScore: 0, evalVotes: [], rewardSource: 'feedback' }, score: 0 },
  { why: 'a person says 0, alone', turn: { evalScore: 0, evalVotes: [] }, said: 0, join: true, score: 0 },
  { why: 'a verifier says 0', turn: { evalScore: 0, evalVotes: [], rewardSource: 'verifier' }, score: 0 },
])('the score of a step where $why: $score', ({ turn, said, join, score }) => {
  const mode = join ? 'join' : 'override';
  const word = said === undefined ? null : feedback(said);
  expect(stepScoreOf(unhintedTurn(turn), word, { ...usual, feedbackReward: mode })).toBe(score);
});
