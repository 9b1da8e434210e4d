import { applied, type Turn, type TurnEvent } from '../../core/turn';
import { forgottenTurn } from './forgotten-turn';
import { descendants } from './lineage';

const identity = { responseId: 'r', sessionId: 'a'.repeat(32), policyVersion: 1 };
const paired: TurnEvent = { kind: 'paired', identity };
const decided = (gateCase: 'rl' | 'drop'): TurnEvent => ({ kind: 'decided', identity, case: gateCase, reason: null });
const closed: TurnEvent = { kind: 'closed', reason: 'failed', detail: 'what the engine said' };

const turnAfter = (...events: TurnEvent[]): Turn =>
  events.reduce<Turn | null>((turn, event) => applied(turn, 'turn', 'acme', event), null)!;

it.each([
  ['an open one has failed', [{ kind: 'dead', code: 'x' }], { ending: 'failed', reason: 'dead-letter:x' }],
  ['one that waits for its decision is dropped', [paired], { ending: 'paired', case: 'drop', reason: 'forgotten' }],
  [
    'a sample that waits is refused',
    [paired, decided('rl')],
    { case: 'drop', reason: 'forgotten', refused: 'forgotten' },
  ],
  [
    'what was trained stays trained',
    [paired, decided('rl'), { kind: 'trained', version: 3 }],
    { case: 'rl', refused: null, trainedIn: 3 },
  ],
  ['what was dropped stays dropped', [paired, decided('drop')], { case: 'drop', reason: null }],
  [
    'what had ended stays ended, without its detail',
    [closed],
    { ending: 'failed', closed: 'failed', closedDetail: null },
  ],
] as const)('forgotten: %s, and says nothing of whose it was', (_, events, expected) => {
  const after = forgottenTurn({ ...turnAfter(...(events as readonly TurnEvent[])), userId: 'b'.repeat(32) })!;
  expect(after).toMatchObject({ ...expected, tenant: 'acme', responseId: null, sessionId: null, userId: null });
  expect(forgottenTurn(after)).toBeNull();
});

it('a message that is still under way decides nothing of a forgotten turn', () => {
  const after = forgottenTurn(turnAfter(paired))!;
  expect(applied(after, 'turn', 'acme', decided('rl'))).toBeNull();
});

it.each([
  [
    'a chain',
    [
      [1, 0],
      [2, 1],
      [3, 2],
    ],
    [1],
    [2, 3],
  ],
  [
    'a branch that went another way',
    [
      [1, 0],
      [2, 0],
      [3, 2],
    ],
    [1],
    [],
  ],
  [
    'steps that come in any order',
    [
      [3, 2],
      [2, 1],
      [1, 0],
    ],
    [1],
    [2, 3],
  ],
  [
    'a version that is named itself',
    [
      [1, 0],
      [2, 1],
    ],
    [1, 2],
    [],
  ],
  ['nothing', [], [], []],
] as const)('later versions hold what an earlier one learnt: %s', (_, steps, versions, expected) => {
  expect(
    descendants(
      steps.map(([version, parent]) => ({ version, parent })),
      versions,
    ),
  ).toEqual(expected);
});
