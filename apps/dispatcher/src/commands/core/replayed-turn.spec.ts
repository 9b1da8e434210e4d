import { encodeCapture, encodeLogProbs } from '@hindcast/contracts';
import type { Circumstances } from '../../core/decide';
import type { Recording } from '../../core/recording';
import { capture, scoredTurn, unhintedTurn } from '../../testing/turns';
import { replayBytes } from './replay-bytes';
import { replayedTurn, type ReplaySettings } from './replayed-turn';

const circumstances: Circumstances = {
  rule: { method: 'combine', currentVersion: 4, maxStaleness: 4, atLeastOne: false },
  maxSampleBytes: 8_000_000,
  sessionHasSample: false,
  feedbackReward: 'override',
  evalQuorum: 1,
  outcome: null,
};
const outcome: Circumstances['outcome'] = {
  reward: 0.5,
  rule: { mode: 'outcome-plus-mean', coefficient: 1, discount: 1, standardise: false },
  steps: [1, -1, 1],
  index: 2,
};
const taught = scoredTurn({
  evalScore: -1,
  teacher: { ok: true, model: 'seed', logProbs: encodeLogProbs([-0.25, -0.5, -0.75]), topK: null },
});
const recording = (over: Partial<Recording> = {}): Recording => ({
  turnId: '00000000-0000-4000-8000-000000000001',
  judged: taught,
  feedback: null,
  circumstances,
  capture: encodeCapture({ ...capture(), rolloutLogProbs: Float32Array.of(-0.5, -0.5, -0.5) }),
  ...over,
});
const feedback = { reward: 1 as const, comment: null, correction: null, at: 1 };
const weights = { rl: 1, opd: 1 };
const withOutcome = recording({ judged: unhintedTurn(), circumstances: { ...circumstances, outcome } });
const binary = recording({
  judged: unhintedTurn({ evalScore: 0 }),
  circumstances: { ...circumstances, rule: { ...circumstances.rule, method: 'binary-rl' } },
});

it.each<[string, Recording, Partial<ReplaySettings>, object]>([
  ['as recorded: r and the teacher', recording(), {}, { case: 'opdRl', reward: -1, advantages: [-0.75, -1, -1.25] }],
  ['other weights', recording(), { weights: { rl: 0.5, opd: 2 } }, { reward: -1, advantages: [0, -0.5, -1] }],
  [
    'the teacher alone',
    recording(),
    { rule: { method: 'opd' } },
    { case: 'opd', reward: 0, advantages: [0.25, 0, -0.25] },
  ],
  [
    'the reward alone',
    recording(),
    { rule: { method: 'binary-rl' } },
    { case: 'rl', reward: -1, advantages: [-1, -1, -1] },
  ],
  ['too old', recording(), { rule: { maxStaleness: 0 } }, { case: 'drop', reason: 'stale', advantages: [] }],
  ['a person overrides', recording({ feedback }), {}, { reward: 1, evalScore: 1, rewardSource: 'feedback' }],
  [
    'a person is one vote more',
    recording({ feedback, judged: scoredTurn({ evalVotes: [] }) }),
    { feedbackReward: 'join' },
    { reward: 1, rewardSource: 'joined' },
  ],
  [
    'a person and too few votes',
    recording({ feedback, judged: scoredTurn({ evalVotes: [] }) }),
    { feedbackReward: 'join', quorum: 2 },
    { evalScore: 0, rewardSource: 'joined' },
  ],
  [
    'an outcome with the mean of its steps',
    withOutcome,
    {},
    { case: 'rl', reward: 0.5 + 1 / 3, rewardSource: 'outcome' },
  ],
  ['another weight of the steps', withOutcome, { session: { coefficient: 0 } }, { reward: 0.5 }],
  ['each step its own', withOutcome, { session: { mode: 'outcome-plus-step', coefficient: 2 } }, { reward: 2.5 }],
  ['a session keeps nothing', binary, {}, { case: 'drop', reason: 'no-signal' }],
  [
    'a session keeps at least one',
    binary,
    { rule: { atLeastOne: true } },
    { case: 'rl', reward: 0, reason: 'at-least-one' },
  ],
  ['a capture that was not recorded', recording({ capture: null }), {}, { case: 'drop', reason: 'capture-missing' }],
])('a recorded turn under other settings: %s', (_, recorded, settings, expected) => {
  const { decision, advantages } = replayedTurn(recorded, { weights, ...settings });
  expect({ ...decision, advantages: Array.from(advantages) }).toMatchObject(expected);
});

describe('the canonical bytes', () => {
  const bytes = (recorded: Recording, settings: Partial<ReplaySettings> = {}): string =>
    Buffer.from(replayBytes(recorded.turnId, replayedTurn(recorded, { weights, ...settings }))).toString('hex');

  it('are what the comment says', () => {
    const text = (value: string): string => Buffer.from([value.length, 0, 0, 0, ...Buffer.from(value)]).toString('hex');
    const doubles = Buffer.from(Float64Array.of(-0.75, -1, -1.25).buffer).toString('hex');
    const reward = Buffer.from(Float64Array.of(-1).buffer).toString('hex');
    expect(bytes(recording())).toBe(
      `${text(recording().turnId)}03${reward}ff${text('votes')}ffffffff03000000${doubles}`,
    );
  });

  it.each<[string, Recording, Partial<ReplaySettings>]>([
    ['an advantage', recording(), { weights: { rl: 1 + Number.EPSILON, opd: 1 } }],
    ['the case', recording(), { rule: { method: 'opd' } }],
    ['the reason', recording(), { rule: { maxStaleness: 0 } }],
    ['where the reward comes from', recording({ feedback: { ...feedback, reward: -1 } }), {}],
    ['the turn', recording({ turnId: '00000000-0000-4000-8000-000000000002' }), {}],
  ])('tell %s', (_, recorded, settings) => {
    expect(bytes(recorded, settings)).not.toBe(bytes(recording()));
  });
});
