import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { FakeEngine, answerOf } from './testing/fake-engine';
import { BusReader, dataOf, eventually, startTestGateway, type RunningGateway } from './testing/gateway-harness';

type Json = Record<string, unknown>;

interface Asked {
  readonly number: number;
  /** `null`: not captured, and all that the engine says goes on as it came. */
  readonly turnId: string | null;
  /** The messages as the client sent them. */
  readonly messages: readonly Json[];
}

const AT_ONCE = 12;
const ROUNDS = 5;
/** So many bytes that all of it is larger than what a socket takes at once. */
const SENTENCES = 1_500;

const promptIdsOf = (number: number): number[] =>
  Array.from({ length: 6_000 }, (_, index) => (index * 7_919 + number) % 150_000);
const messagesOf = (number: number): Json[] => [
  { role: 'system', content: `Answer ${number} briefly — kurz und bündig.` },
  { role: 'user', content: `${number}: "harvest"\n in Łódź; `.repeat(SENTENCES) },
];
const numberOf = (messages: unknown): number =>
  Number(/^\d+/.exec(String((messages as { content: string }[])[1]!.content))![0]);

const textOf = (stream: string): string =>
  dataOf(stream)
    .filter((data) => data !== '[DONE]')
    .map((data) => (JSON.parse(data) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '')
    .join('');

// The harness overwrites what is given back at once (`reusedMemory.poison`).
describe('memory that is used again', () => {
  let engine: FakeEngine;
  let gateway: RunningGateway;
  const cleanUp: (() => Promise<unknown>)[] = [];
  const sent: { text: string; number: number }[] = [];

  beforeEach(async () => {
    engine = await FakeEngine.start();
    sent.length = 0;
    cleanUp.push(() => engine.stop());
    engine.script = async (call) => {
      const number = numberOf(call.body['messages']);
      sent.push({ text: JSON.stringify(call.body['messages']), number });
      const fate = sent.length % 7;
      if (fate === 1) return engine.refuse(call, 503, 'busy');
      if (fate === 2) return call.response.destroy();
      await sleep(fate);
      const answer = answerOf(`Answer ${number}, as it was asked.`, { promptIds: promptIdsOf(number) });
      return engine.answerInPieces(call, answer, [100, 300, 1_000, 9_000, 20_000]);
    };
  });
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  const startGateway = async (natsUrl: string): Promise<void> => {
    const env = { POLICY_RETRIES: '4', POLICY_RETRY_CUT: 'true', POLICY_RETRY_MAX_WAIT_MS: '20' };
    gateway = await startTestGateway({ NATS_URL: natsUrl, POLICY_BASE_URL: engine.url, ...env });
    cleanUp.push(() => gateway.stop());
  };

  /** Some clients leave in the middle. */
  const ask = async (number: number): Promise<Asked | null> => {
    const messages = messagesOf(number);
    const leave = new AbortController();
    if (number % 5 === 4) setTimeout(() => leave.abort(), number % 30);
    try {
      const body = { messages, stream: number % 2 === 0, ...(number % 3 === 0 && { train: false }) };
      const response = await gateway.chat(body, {}, leave.signal);
      const text = await response.text();
      if (response.status !== 200) return null;
      expect(number % 2 === 0 ? textOf(text) : text).toContain(`Answer ${number}, as it was asked.`);
      return { number, turnId: response.headers.get('x-hindcast-turn-id'), messages };
    } catch (error) {
      if (leave.signal.aborted) return null;
      throw error;
    }
  };

  const askAll = async (): Promise<Asked[]> => {
    const asked: Asked[] = [];
    let next = 1;
    const client = async (): Promise<void> => {
      while (next <= AT_ONCE * ROUNDS) {
        const answer = await ask(next++);
        if (answer) asked.push(answer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    return asked;
  };

  const isExact = async (bus: BusReader, { number, turnId, messages }: Asked): Promise<void> => {
    if (turnId === null) return expect(number % 3).toBe(0);
    const capture = (await eventually(() => bus.capture(turnId)))!;
    expect(JSON.stringify(capture.header.messages)).toBe(JSON.stringify(messages));
    expect([...capture.promptIds]).toEqual(promptIdsOf(number));
    expect([...capture.rolloutLogProbs].slice(0, 3)).toEqual([-0.5, -0.75, -1]);
  };

  const everythingIsExact = async (bus: BusReader, asked: readonly Asked[]): Promise<void> => {
    expect(asked.length).toBeGreaterThan((AT_ONCE * ROUNDS) / 2);
    for (const { text, number } of sent) expect(text).toBe(JSON.stringify(messagesOf(number)));
    for (const answer of asked) await isExact(bus, answer);
  };

  it('holds the right bytes with engines that fail and clients that leave', async () => {
    const nats = await startNatsServer();
    cleanUp.push(() => nats.stop());
    const bus = await BusReader.connect(nats.url);
    cleanUp.push(() => bus.close());
    await startGateway(nats.url);
    await everythingIsExact(bus, await askAll());
  });

  it('holds the right bytes while NATS goes and comes back', async () => {
    const port = await freePort();
    const first = await startNatsServer({ port });
    await startGateway(first.url);
    await askAll();
    const asking = askAll();
    await sleep(100);
    await first.stop();
    await asking;
    const during = await askAll();
    const second = await startNatsServer({ port });
    cleanUp.push(() => second.stop());
    const bus = await BusReader.connect(second.url);
    cleanUp.push(() => bus.close());
    await everythingIsExact(bus, [...during, ...(await askAll())]);
  });
});
