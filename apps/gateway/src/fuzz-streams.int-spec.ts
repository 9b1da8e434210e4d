import { Agent, request } from 'undici';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, type EngineCall } from './testing/fake-engine';
import { BusReader, dataOf, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';
import { malformedStream, type MalformedStream } from './testing/malformed-stream';
import { Random, inParallel } from './testing/random';

const STREAMS = 10_000;
const SEED = 20261130;
const ANSWER = answerOf('Grüße, 北京 is 👋 fine today', { promptIds: [11, 12, 13, 14] });

jest.setTimeout(600_000);

describe('malformed streams of an engine', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let gateway: RunningGateway;
  let agent: Agent;
  const random = new Random(SEED);
  const sent = new Map<string, MalformedStream>();
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);

  const answer = (call: EngineCall): void => {
    engine.calls.length = 0;
    const malformed = malformedStream(engine.events(call, ANSWER), random);
    const [user] = call.body['messages'] as { content: string }[];
    sent.set(user!.content, malformed);
    const { response } = call;
    response.writeHead(malformed.status, { 'content-type': malformed.contentType });
    const at = random.below(malformed.bytes.length + 1);
    response.write(malformed.bytes.subarray(0, at));
    response.write(malformed.bytes.subarray(at), () => {
      if (malformed.isReset) response.destroy();
      else response.end();
    });
  };

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    engine.script = answer;
    bus = await BusReader.connect(nats.url);
    // A broken engine is what is asked for here: it is not to be left alone for it.
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_RETRIES: '0',
      POLICY_BREAKER_FAILURES: '0',
    });
    agent = new Agent({ connections: 32 });
    process.on('unhandledRejection', note);
  });
  afterAll(async () => {
    process.off('unhandledRejection', note);
    await agent.destroy();
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  /** What is wrong with a reply; `null` when it is one that a client can read. */
  const mistakeIn = (status: number, text: string): string | null => {
    if (status >= 400) {
      const { error } = JSON.parse(text) as { error?: { message?: unknown } };
      return typeof error?.message === 'string' ? null : 'an error of no shape';
    }
    if (status !== 200) return `status ${status}`;
    const last = dataOf(text.replaceAll('event: error\n', '')).at(-1) ?? '';
    const isEnded = last.startsWith('[DONE]') || /"finish_reason":"|"error":|"message":|"usage":\{/.test(last);
    return isEnded ? null : `a stream that ends with ${last.slice(0, 100)}`;
  };

  it(`${STREAMS} of them: every reply has a shape, none hangs, and no broken answer is captured`, async () => {
    const faults: string[] = [];
    const turns = new Map<string, string>();
    const seen = { whole: 0, failed: 0 };
    await inParallel(STREAMS, 32, async (index) => {
      const question = `question ${index}`;
      const response = await request(`${gateway.url}/v1/chat/completions`, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ messages: userSays(question), stream: true }),
      });
      const text = await response.body.text();
      const turnId = response.headers['x-hindcast-turn-id'];
      if (typeof turnId === 'string') turns.set(turnId, question);
      if (response.statusCode === 200 && !text.includes('"error"')) seen.whole++;
      else seen.failed++;
      const mistake = mistakeIn(response.statusCode, text);
      if (mistake) faults.push(`${sent.get(question)?.fault}: ${mistake}\n${sent.get(question)?.bytes.toString()}`);
    });
    expect(faults.slice(0, 3)).toEqual([]);
    expect(rejections).toEqual([]);
    expect(seen.failed).toBeGreaterThan(STREAMS / 10);
    expect(seen.whole).toBeGreaterThan(STREAMS / 10);

    const wrong: string[] = [];
    let captured = 0;
    for await (const turnId of await (await bus.bucket('captures')).keys()) {
      const capture = (await bus.capture(turnId))!;
      captured++;
      const isExact =
        equal(capture.promptIds, ANSWER.promptIds!) &&
        equal(
          capture.responseIds,
          ANSWER.tokens.map(({ id }) => id),
        ) &&
        equal(
          capture.rolloutLogProbs,
          ANSWER.tokens.map(({ logProb }) => Math.fround(logProb!)),
        );
      if (!isExact) wrong.push(sent.get(turns.get(turnId)!)!.fault);
    }
    expect(wrong).toEqual([]);
    expect(captured).toBeGreaterThan(0);
    expect(captured).toBeLessThan(seen.whole + 1);
  });

  it('goes on as if nothing had been', async () => {
    engine.script = (call) => engine.answer(call, ANSWER);
    const response = await gateway.chat({ messages: userSays('and now?'), stream: true });
    expect(dataOf(await response.text()).at(-1)).toBe('[DONE]');
    await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
  });
});

const equal = (left: ArrayLike<number>, right: ArrayLike<number>): boolean =>
  left.length === right.length && Array.from(left).every((value, index) => value === right[index]);
