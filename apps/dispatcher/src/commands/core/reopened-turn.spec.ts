import { applied, type Turn, type TurnEvent } from '../../core/turn';
import { reopenedTurn } from './reopened-turn';

const identity = { responseId: 'r', sessionId: null, policyVersion: 1 };
const paired: TurnEvent = { kind: 'paired', identity };
const decided = (gateCase: 'rl' | 'drop', reason: string | null): TurnEvent => ({
  kind: 'decided',
  identity,
  case: gateCase,
  reason,
});

const turnAfter = (...events: TurnEvent[]): Turn =>
  events.reduce<Turn | null>((turn, event) => applied(turn, 'turn', 'acme', event), null)!;

describe('a turn whose dead letter is replayed', () => {
  it.each([
    [
      'dropped',
      'is to be decided again',
      [paired, decided('drop', 'dead-letter:x')],
      { ending: 'paired', case: null, reason: null },
    ],
    ['dropped', 'was never heard of otherwise', [decided('drop', 'dead-letter:x')], { ending: 'open', case: null }],
    ['failed', 'is open again', [{ kind: 'dead', code: 'x' }], { ending: 'open', reason: null }],
    [
      'failed',
      'stays where other messages put it',
      [
        { kind: 'closed', reason: 'expired', detail: null },
        { kind: 'dead', code: 'x' },
      ],
      { ending: 'expired' },
    ],
    [
      'refused',
      'has its sample waiting again',
      [paired, decided('rl', null), { kind: 'refused', reason: 'dead-letter:x' }],
      { case: 'rl', reason: null, refused: null },
    ],
  ] as const)('%s: %s', (kind, _, events, expected) => {
    const before = turnAfter(...(events as readonly TurnEvent[]));
    expect(reopenedTurn(before, kind, 'x')).toMatchObject({ ...expected, revision: before.revision + 1 });
  });

  it.each([
    ['dropped', 'the gate decided it', [paired, decided('drop', 'no-signal')]],
    ['dropped', 'another kind of letter dropped it', [paired, decided('drop', 'dead-letter:y')]],
    ['dropped', 'it is trained', [paired, decided('drop', 'dead-letter:x'), { kind: 'trained', version: 2 }]],
    ['refused', 'the trainer refused it', [paired, decided('rl', null), { kind: 'refused', reason: 'refused:stale' }]],
    ['failed', 'no letter was about it', [paired]],
  ] as const)('%s: stays as it is when %s', (kind, _, events) => {
    expect(reopenedTurn(turnAfter(...(events as readonly TurnEvent[])), kind, 'x')).toBeNull();
  });
});
