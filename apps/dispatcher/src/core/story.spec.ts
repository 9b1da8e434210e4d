import { TurnStory } from '@hindcast/contracts';
import { storyOf } from './story';
import { applied, type Turn, type TurnEvent } from './turn';

const id = '00000000-0000-4000-8000-000000000001';
const identity = { responseId: 'chatcmpl-1', sessionId: null, policyVersion: 0 };
const tokens = {
  model: 'seed',
  promptTokens: 1,
  completionTokens: 1,
  finishReason: 'stop',
  untrainable: null,
  userId: null,
  outcomePending: false,
};
const captured = { kind: 'captured', identity, ...tokens } satisfies TurnEvent;
const paired = { kind: 'paired', identity } satisfies TurnEvent;
const kept = { kind: 'decided', identity, case: 'opd', reason: null } satisfies TurnEvent;
const play = (...events: TurnEvent[]): Turn =>
  events.reduce<Turn | null>((turn, event) => applied(turn, id, 'acme', event), null)!;

test.each([
  { turn: play(captured), state: 'open' },
  { turn: play(captured, { kind: 'closed', reason: 'expired', detail: null }), state: 'closed' },
  { turn: play({ ...captured, untrainable: 'no-token-ids' }), state: 'closed' },
  { turn: play(captured, paired), state: 'paired' },
  { turn: play(captured, paired, { kind: 'judged', identity }), state: 'judged' },
  { turn: play(captured, { kind: 'judged', identity }, kept), state: 'decided' },
  { turn: play(captured, paired, kept), state: 'decided' },
  { turn: play(captured, paired, kept, { kind: 'refused', reason: 'refused:stale' }), state: 'decided' },
  { turn: play(captured, paired, kept, { kind: 'trained', version: 1 }), state: 'trained' },
])('$state: $turn.reason', ({ turn, state }) => {
  const story = TurnStory.parse(storyOf(turn, { evalScore: 0, reward: 0, rewardSource: 'votes', hint: 'Be brief.' }));
  expect(story).toMatchObject({ state, case: turn.case, reason: turn.reason, trainedIn: turn.trainedIn });
});

test('there is no story before a message said which answer it was', () => {
  expect(storyOf(play({ kind: 'closed', reason: 'failed', detail: null }), null)).toBeNull();
});
