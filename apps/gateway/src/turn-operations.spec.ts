import type { Bus } from '@hindcast/platform';
import type { Ending, OpenTurn } from './core/open-turn';
import type { KvAccess } from './kv-access';
import { SessionMemory } from './session-memory';
import type { TurnBook } from './turn-book';
import { TurnOperations } from './turn-operations';

const GIVEN_AT = 1_000_000;
const outcome = { sessionId: 'a'.repeat(32), reward: 1, comment: null };
const operation = { kind: 'outcome', id: 'outcome.1', tenant: 't', at: GIVEN_AT, outcome } as const;

/** By turn id, how long after the outcome they were opened. */
type Turns = Readonly<Record<string, { after: number; hasCapture?: boolean }>>;

/** A session with open turns; what happens to them is noted in `order`. */
function session(turns: Turns, order: string[]): TurnOperations {
  const captured = { responseId: 'r', policyVersion: 0, finishReason: 'stop', outcomePending: true };
  const open = Object.entries(turns).map(([turnId, { after }]) => ({
    turnId,
    sessionId: outcome.sessionId,
    captured,
    openedAt: GIVEN_AT + after,
  })) as OpenTurn[];
  const header = { messages: [{ role: 'user', content: 'Hi' }], answer: { content: 'Hello' } };
  const book = {
    sessions: { read: () => Promise.resolve(open.map(({ turnId }) => ({ turnId, key: `key of ${turnId}` }))) },
    capture: (turnId: string) => Promise.resolve(turns[turnId]!.hasCapture === false ? null : { header }),
    end: (
      key: string,
      choose: (turns: readonly OpenTurn[]) => OpenTurn | null,
      ending: (turn: OpenTurn) => Ending,
    ): Promise<null> => {
      const chosen = choose(open.filter(({ turnId }) => key === `key of ${turnId}`));
      if (chosen) order.push(`${chosen.turnId} ${ending(chosen).kind}`);
      return Promise.resolve(null);
    },
  };
  const bus = { publish: (name: string, { id }: { id: string }) => void order.push(`${name} ${id}`) };
  const access = { whileConnected: (work: Promise<unknown>) => work, onLost: () => undefined };
  const memory = new SessionMemory(access as unknown as KvAccess);
  return new TurnOperations(book as unknown as TurnBook, bus as unknown as Bus, memory, access as unknown as KvAccess, {
    OPEN_TURN_TTL_SECONDS: 60,
  });
}

describe('an outcome', () => {
  it.each<{ why: string; turns: Turns; ended: string[] }>([
    { why: 'no open turn', turns: {}, ended: [] },
    { why: 'turns that were open', turns: { a: { after: -9 }, b: { after: 0 } }, ended: ['a paired', 'b paired'] },
    { why: 'the clock of another gateway may be ahead', turns: { a: { after: 1_000 } }, ended: ['a paired'] },
    {
      why: 'one that was opened later is not meant',
      turns: { a: { after: 1_001 }, b: { after: 0 } },
      ended: ['b paired'],
    },
    { why: 'one without a capture has nothing to pair', turns: { a: { after: 0, hasCapture: false } }, ended: [] },
  ])('pairs before it is published: $why', async ({ turns, ended }) => {
    const order: string[] = [];
    await session(turns, order).perform(operation, null, GIVEN_AT + 60_000);
    expect(order).toEqual([...ended, 'sessionOutcome outcome.1']);
  });
});
