import { booksOf } from './books';
import { applied, type Turn, type TurnEvent } from './turn';

const identity = { responseId: 'chatcmpl-1', sessionId: 'ab'.repeat(16), policyVersion: 3 };
const captured = {
  kind: 'captured',
  identity,
  model: 'seed',
  promptTokens: 10,
  completionTokens: 5,
  finishReason: 'stop',
  untrainable: null,
  userId: null,
  outcomePending: false,
} satisfies TurnEvent;
const untrainable = { ...captured, untrainable: 'no-log-probs' } satisfies TurnEvent;
const paired = { kind: 'paired', identity } satisfies TurnEvent;
const dead = { kind: 'dead', code: 'max-deliveries' } satisfies TurnEvent;
const kept = { kind: 'decided', identity, case: 'opdRl', reason: null } satisfies TurnEvent;
const dropped = {
  kind: 'decided',
  identity: null,
  case: 'drop',
  reason: 'dead-letter:max-deliveries',
} satisfies TurnEvent;
const refused = { kind: 'refused', reason: 'refused:stale' } satisfies TurnEvent;
const trained = { kind: 'trained', version: 4 } satisfies TurnEvent;
const closed = (reason: 'expired' | 'superseded' | 'failed' | 'dropped-from-spool') =>
  ({ kind: 'closed', reason, detail: null }) satisfies TurnEvent;

const histories: { why: string; events: TurnEvent[]; ending: string; case: string | null; reason: string | null }[] = [
  { why: 'captured and not continued yet', events: [captured], ending: 'open', case: null, reason: null },
  { why: 'served, not trainable', events: [untrainable], ending: 'untrainable', case: null, reason: 'no-log-probs' },
  { why: 'never continued', events: [captured, closed('expired')], ending: 'expired', case: null, reason: 'expired' },
  {
    why: 'regenerated',
    events: [captured, closed('superseded')],
    ending: 'superseded',
    case: null,
    reason: 'superseded',
  },
  { why: 'the gateway gave up', events: [captured, closed('failed')], ending: 'failed', case: null, reason: 'failed' },
  {
    why: 'the spool overflowed',
    events: [closed('dropped-from-spool')],
    ending: 'failed',
    case: null,
    reason: 'dropped-from-spool',
  },
  { why: 'waits for its judgement', events: [captured, paired], ending: 'paired', case: null, reason: null },
  { why: 'decided', events: [captured, paired, kept], ending: 'paired', case: 'opdRl', reason: null },
  { why: 'a judgement is proof of a pairing', events: [captured, kept], ending: 'paired', case: 'opdRl', reason: null },
  { why: 'trained', events: [captured, paired, kept, trained], ending: 'paired', case: 'opdRl', reason: null },
  {
    why: 'a refused sample is a drop',
    events: [captured, paired, kept, refused],
    ending: 'paired',
    case: 'drop',
    reason: 'refused:stale',
  },
  {
    why: 'what is in a version was trained',
    events: [captured, paired, kept, refused, trained],
    ending: 'paired',
    case: 'opdRl',
    reason: null,
  },
  {
    why: 'nobody judges it any more',
    events: [captured, paired, dropped],
    ending: 'paired',
    case: 'drop',
    reason: 'dead-letter:max-deliveries',
  },
  {
    why: 'a pairing outweighs a closing sent beside it in a crash',
    events: [captured, paired, closed('expired')],
    ending: 'paired',
    case: null,
    reason: null,
  },
  {
    why: 'so does a decision',
    events: [captured, kept, closed('superseded'), trained],
    ending: 'paired',
    case: 'opdRl',
    reason: null,
  },
  { why: 'its only message died', events: [dead], ending: 'failed', case: null, reason: 'dead-letter:max-deliveries' },
  {
    why: 'its closing died',
    events: [captured, dead],
    ending: 'failed',
    case: null,
    reason: 'dead-letter:max-deliveries',
  },
  {
    why: 'what is known outweighs what died',
    events: [captured, dead, closed('expired')],
    ending: 'expired',
    case: null,
    reason: 'expired',
  },
  {
    why: "the ledger's pairing died, the judge's lived",
    events: [captured, dead, kept, trained],
    ending: 'paired',
    case: 'opdRl',
    reason: null,
  },
  {
    why: 'everything at once',
    events: [captured, paired, dead, closed('expired'), kept, refused, trained],
    ending: 'paired',
    case: 'opdRl',
    reason: null,
  },
];

function* permutations<T>(items: readonly T[]): Generator<T[]> {
  if (items.length <= 1) return void (yield [...items]);
  for (const [index, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(index, 1))) yield [item, ...rest];
  }
}

const play = (events: readonly TurnEvent[]): Turn => {
  let turn: Turn | null = null;
  for (const event of events) turn = applied(turn, 'turn-1', 'acme', event) ?? turn;
  return turn!;
};

test('counts that are not known stay unknown, they are not 0', () => {
  const uncounted = { ...captured, promptTokens: null, completionTokens: null } satisfies TurnEvent;
  expect(play([uncounted])).toMatchObject({ promptTokens: null, completionTokens: null });
  expect(play([captured])).toMatchObject({ promptTokens: 10, completionTokens: 5 });
});

test.each(histories)('$why: $ending', ({ events, ending, case: gateCase, reason }) => {
  expect(play(events)).toMatchObject({ ending, case: gateCase, reason });
});

test.each(histories)('$why: every order ends alike, and no step unbalances the books', ({ events }) => {
  const expected = JSON.stringify({ ...play(events), revision: 0 });
  const different: string[] = [];
  for (const order of permutations(events)) {
    let turn: Turn | null = null;
    for (const event of order) {
      turn = applied(turn, 'turn-1', 'acme', event)!;
      if (!isBalanced(turn))
        different.push(`unbalanced after ${event.kind} in ${order.map(({ kind }) => kind).join()}`);
    }
    // Every message comes a second time.
    const isRepeated = order.every((event) => applied(turn, 'turn-1', 'acme', event) === null);
    if (!isRepeated || JSON.stringify({ ...turn, revision: 0 }) !== expected)
      different.push(order.map(({ kind }) => kind).join());
  }
  expect(different).toEqual([]);
});

test('the first judgement wins', () => {
  const second = { kind: 'decided', identity, case: 'rl', reason: null } as const;
  const turn = play([paired, kept, second, dropped]);
  expect(turn.case).toBe('opdRl');
  expect(turn.revision).toBe(2);
});

test('a message that does not know the tenant leaves the owner alone', () => {
  const stub = applied(null, 'turn-1', null, dead)!;
  expect(stub.tenant).toBe('unknown');
  const owned = applied(stub, 'turn-1', 'acme', captured)!;
  expect(applied(owned, 'turn-1', null, trained)!.tenant).toBe('acme');
});

function isBalanced({ ending, case: gateCase, reason }: Turn): boolean {
  const { turns, cases } = booksOf([{ ending, case: gateCase, reason, count: 1 }]);
  const { captured: all, ...endings } = turns;
  return sum(endings) === all && sum(cases) === turns.paired;
}

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
