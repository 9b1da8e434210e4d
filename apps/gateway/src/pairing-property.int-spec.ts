import * as fc from 'fast-check';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, type RunningGateway } from './testing/gateway-harness';
import { TurnOperations } from './turn-operations';

interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** The turn that this answer is, where it may become one. */
  readonly turnId: string | null;
}

/** Clients that share their words but differ in session, system message, or neither. */
const KINDS = ['plain', 'own-session', 'own-system', 'shared-session'] as const;
/** How a client spells the answers that it sends back. */
const SPELLINGS: readonly ((content: string) => unknown)[] = [
  (content) => content,
  (content) => ` ${content}\n`,
  (content) => [{ type: 'text', text: content }],
  (content) => `<think>I wonder</think>${content}`,
];

const step = fc.record({
  client: fc.nat({ max: 3 }),
  action: fc.constantFrom('say', 'say', 'say', 'retry', 'regenerate', 'branch', 'restart', 'unseen', 'compact'),
  /** From a small stock, so that conversations of several clients come to be the same. */
  word: fc.nat({ max: 2 }),
  answer: fc.nat({ max: 1 }),
  /** Where a client with a session asks, of two gateways. */
  place: fc.nat({ max: 1 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe.each([{ count: 1 }, { count: 2 }])('pairing at $count gateways, whatever clients do', ({ count }) => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateways: RunningGateway[];
  let bus: BusReader;
  let runs = 0;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url, SESSION_SECRET: 'a secret of all gateways' };
    gateways = await Promise.all(Array.from({ length: count }, () => startTestGateway(env)));
    bus = await BusReader.connect(nats.url);
    for (const { url } of gateways)
      await eventually(async () => (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]'));
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  /** One client, and the truth about its conversations. */
  class Client {
    history: Said[] = [];
    /** The conversation of each of its turns, with the answer. */
    readonly turns = new Map<string, string>();
    private answers = 0;
    /** What followed each of its turns, in every request that it sent. */
    readonly followed = new Map<string, string[]>();

    constructor(
      private readonly run: string,
      private readonly index: number,
      private readonly kind: (typeof KINDS)[number],
    ) {}

    async take({ action, word, answer, place }: Step): Promise<void> {
      if (action === 'restart') this.history = [];
      const isAnswered = this.history.at(-1)?.role === 'assistant';
      if (action === 'regenerate' && isAnswered) this.history.pop();
      else {
        if (action === 'branch') this.history = this.history.slice(0, 2 * Math.floor(this.history.length / 4));
        if (action === 'compact' && this.kind === 'own-session') this.history = this.history.slice(-2);
        this.history.push({ role: 'user', content: `${this.run} word ${word}`, turnId: null });
      }
      // The first answer is lost on its way.
      if (action === 'retry') {
        await this.send(answer, false, place + 1);
        this.history.pop();
      }
      await this.send(answer, action === 'unseen', place);
    }

    /** Sends the conversation as it is and takes the answer in. */
    private async send(answer: number, isUnseen: boolean, place: number): Promise<void> {
      const spelling = SPELLINGS[(this.index + this.answers++) % SPELLINGS.length]!;
      const isSystem = this.kind === 'own-system' || this.kind === 'shared-session';
      const messages = [
        ...(isSystem ? [{ role: 'system', content: `${this.run} client ${this.index}` }] : []),
        ...this.history.map(({ role, content }) => ({
          role,
          content: role === 'assistant' ? spelling(content) : content,
        })),
      ];
      const session = { 'own-session': `${this.run} ${this.index}`, 'shared-session': this.run }[this.kind as string];
      this.note();
      engine.script = (call) => engine.answer(call, answerOf(`answer ${answer}`));
      // Without a session, what another gateway knows of a conversation is not known.
      const gateway = gateways[session === undefined ? 0 : place % count]!;
      const response = await gateway.chat({
        messages,
        ...(session !== undefined && { session_id: session }),
        ...(isUnseen && { turn_type: 'side' }),
      });
      await response.text();
      const turnId = response.headers.get('x-hindcast-turn-id');
      this.history.push({ role: 'assistant', content: `answer ${answer}`, turnId });
      if (turnId !== null) this.turns.set(turnId, stateOf(this.history));
    }

    /**
     * A request shows what came after every turn in it. The same conversation with the same answer, given twice, is the same state:
     * nothing tells the two apart, and the oldest pairs first. That holds where the history before it was compacted since, too.
     */
    private note(): void {
      this.history.forEach(({ role }, index) => {
        if (role !== 'assistant' || index === this.history.length - 1) return;
        const texts = JSON.stringify(this.history.slice(index + 1).map(({ content }) => content));
        const { turnId } = this.history[index]!;
        const given = turnId === null ? null : this.turns.get(turnId)!;
        for (const state of new Set([turnId, given, stateOf(this.history.slice(0, index + 1))]))
          if (state !== null) this.followed.set(state, [...(this.followed.get(state) ?? []), texts]);
      });
    }
  }
  const stateOf = (history: readonly Said[]): string => JSON.stringify(history.map(({ content }) => content));

  /** Clients of every run. */
  const all: Client[] = [];

  /** Pairs so far that are of one of these clients, each shown to be true. */
  async function expectTruePairs(clients: readonly Client[]): Promise<number> {
    let pairs = 0;
    const owners = new Map(
      clients.flatMap((client) => [...client.turns.keys()].map((turnId) => [turnId, client] as const)),
    );
    for (const { turnId, body } of await bus.messages('turnPaired')) {
      const owner = owners.get(turnId!);
      if (!owner) continue;
      const texts = JSON.stringify(
        body.nextState.map(({ text }) => text.replace(/^\s*(<think>.*<\/think>)?/, '').trim()),
      );
      const states = [turnId!, owner.turns.get(turnId!)!];
      expect(states.flatMap((state) => owner.followed.get(state) ?? [])).toContain(texts);
      pairs += 1;
    }
    return pairs;
  }

  /** Lets clients of every kind take these steps, and looks at what was paired. */
  async function play(steps: readonly Step[]): Promise<void> {
    const run = `run ${runs++}`;
    const clients = KINDS.map((kind, index) => new Client(run, index, kind));
    for (const taken of steps) await clients[taken.client]!.take(taken);
    all.push(...clients);
    // What waits for answers that it did not find is tried once more.
    for (const { service } of gateways) await service.app.get(TurnOperations).early.leave(true);
    // A pair that is made now comes after most of theirs; one that is later still is looked at in the end.
    const marker = new Client(`${run} marker`, 0, 'plain');
    for (const action of ['say', 'say'] as const)
      await marker.take({ client: 0, action, word: 0, answer: 0, place: 0 });
    await bus.messageOf('turnPaired', marker.history[1]!.turnId!);
    await expectTruePairs(clients);
  }

  const steps = (...taken: [client: number, action: Step['action'], word: number, answer?: number][]): Step[] =>
    taken.map(([client, action, word, answer = 0], index) => ({ client, action, word, answer, place: index % 2 }));

  it.each([
    {
      why: 'a retry after a compaction continues no answer to itself',
      taken: steps(
        [1, 'say', 1],
        [1, 'say', 0],
        [1, 'compact', 0],
        [1, 'retry', 0],
        [0, 'say', 0],
        [0, 'say', 0],
        [0, 'say', 0],
      ),
    },
    {
      why: 'an answer given twice and compacted since is followed by what follows either',
      taken: steps([1, 'say', 1], [1, 'retry', 0], [1, 'compact', 0]),
    },
    {
      why: 'a branch of a compacted history is not the next one compacted',
      taken: steps([1, 'say', 0], [1, 'say', 1], [1, 'compact', 1], [1, 'branch', 0], [0, 'say', 0]),
    },
    {
      why: 'a request that waits for an answer is not followed by an exchange that its session repeats meanwhile',
      taken: steps([1, 'say', 0], [1, 'unseen', 2], [1, 'compact', 0], [1, 'say', 2]),
    },
    {
      why: 'an answer that was superseded is not the same one that was given again and not captured',
      taken: steps([1, 'say', 1], [1, 'say', 0, 1], [1, 'branch', 0], [1, 'unseen', 0, 1], [1, 'compact', 0]),
    },
    {
      why: 'a compacted history of a session is no conversation of a client without one',
      taken: steps([0, 'say', 0], [1, 'say', 1], [1, 'say', 0], [1, 'compact', 0]),
    },
  ])('D2 $why', async ({ taken }) => {
    // The order in which NATS answers differs from time to time.
    for (let time = 0; time < 10; time++) await play(taken);
    await expectTruePairs(all);
  });

  it('D2 a next state is always what truly followed in the conversation of the client that got the answer', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), play), { numRuns: 25 });
    expect(await expectTruePairs(all)).toBeGreaterThan(50);
  }, 240_000);
});
