import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerRoute, engineRoutes, type EngineRoute } from './testing/engine-routes';
import { answerOf, type FakeEngine } from './testing/fake-engine';
import { eventually, userSays, type RunningGateway } from './testing/gateway-harness';
import { becomes, KeyStage, statusOf } from './testing/key-stage';
import { bearer, fileOf, named, sha256 } from './testing/keys';

let stage: KeyStage;
let engine: FakeEngine;

beforeAll(async () => {
  stage = await KeyStage.start();
  ({ engine } = stage);
});
afterAll(() => stage.stop());
beforeEach(() => {
  engine.script = (call) => engine.answer(call, answerOf('Hello there'));
});
afterEach(() => stage.cleanUp());

const folder = (): string => stage.folder();
const start = (env: Record<string, string>): Promise<RunningGateway> => stage.startGateway(env);

describe('limits of a key', () => {
  const chat = (gateway: RunningGateway, key: string, more: object = {}): Promise<Response> =>
    gateway.chat({ messages: userSays('Hi'), ...more }, bearer(key));

  it('on requests: 429 with Retry-After beyond them, counted by name, on what an engine computes only', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(
      file,
      fileOf(
        named('ann', 'one', { requestsPerMinute: 2 }),
        named('ann', 'two', { requestsPerMinute: 2 }),
        named('bob', 'bobs'),
      ),
    );
    const gateway = await start({ API_KEYS_FILE: file });
    engine.calls.length = 0;
    for (const [index, key] of ['one', 'two'].entries()) {
      const response = await chat(gateway, key, { stream: index === 1 });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'x-ratelimit-limit-requests': '2',
        'x-ratelimit-remaining-requests': String(1 - index),
        'x-ratelimit-reset-requests': expect.stringMatching(/^(\d+m)?[\d.]+m?s$/),
      });
      expect(response.headers.has('x-ratelimit-limit-tokens')).toBe(false);
      await response.text();
    }
    const refused = await chat(gateway, 'one');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(30);
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(await refused.json()).toEqual({
      error: {
        message: expect.stringContaining('2 requests per minute'),
        type: 'rate_limit_error',
        code: 'rate-limited',
        param: null,
      },
    });
    expect(engine.calls).toHaveLength(2);
    expect(await gateway.metric('requests_over_limit_total', 'requests')).toBe(1);
    expect(await statusOf(gateway, bearer('one'))).toBe(200);
    const free = await chat(gateway, 'bobs');
    expect([free.status, free.headers.has('x-ratelimit-limit-requests')]).toEqual([200, false]);
  });

  it('of the environment hold for every key without its own, and in open mode', async () => {
    const env = { KEY_REQUESTS_PER_MINUTE: '1', KEY_TOKENS_PER_MINUTE: '90' };
    const [keyed, open] = [
      await start({ API_KEYS: `ann:${sha256('k')},bob:${sha256('b')}`, ...env }),
      await start(env),
    ];
    expect((await chat(keyed, 'k')).status).toBe(200);
    expect((await chat(keyed, 'k')).status).toBe(429);
    expect((await chat(keyed, 'b')).headers.get('x-ratelimit-limit-tokens')).toBe('90');
    expect((await open.chat({ messages: userSays('Hi') })).status).toBe(200);
    expect((await open.chat({ messages: userSays('Hi') })).status).toBe(429);
  });

  it('survive a change of the keys file, and change with it', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf(named('ann', 'k', { requestsPerMinute: 1 })));
    const gateway = await start({ API_KEYS_FILE: file });
    expect((await chat(gateway, 'k')).status).toBe(200);
    writeFileSync(file, fileOf(named('ann', 'k', { requestsPerMinute: 1 }), named('eve', 'e')));
    await becomes(gateway, 'e', 200);
    expect((await chat(gateway, 'k')).status).toBe(429);
    writeFileSync(file, fileOf(named('ann', 'k', { requestsPerMinute: null }), named('sue', 's')));
    await becomes(gateway, 's', 200);
    expect((await chat(gateway, 'k')).status).toBe(200);
  });

  const limited = (tokensPerMinute: number): Promise<RunningGateway> =>
    start({ API_KEYS: `ann:${sha256('k')}`, KEY_TOKENS_PER_MINUTE: String(tokensPerMinute) });

  const post = ({ path, body }: EngineRoute, gateway: RunningGateway, more: object = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer('k') },
      body: JSON.stringify({ ...body, ...more }),
    });

  it.each([
    ...engineRoutes
      .filter(({ isLimited, enginePath }) => isLimited && enginePath !== '/tokenize')
      .map((route) => ({ ...route, more: {} })),
    ...engineRoutes
      .filter(({ path }) => path === '/v1/chat/completions')
      .map((route) => ({ ...route, name: `${route.name}, not captured`, more: { turn_type: 'side' } })),
  ])('on tokens: an answer may overdraw, the next request waits ($name)', async ({ more, ...route }) => {
    const gateway = await limited(1000);
    engine.script = (call) => answerRoute(engine, call, 60_000);
    const first = await post(route, gateway, more);
    expect([first.status, first.headers.get('x-ratelimit-remaining-tokens')]).toEqual([200, '1000']);
    // Usage that the client did not ask for is asked for all the same, and kept from it.
    const text = await first.text();
    if (route.path.endsWith('/completions') && 'stream' in route.body) expect(text).not.toContain('"usage":{');
    const second = await post(route, gateway, more);
    expect(second.status).toBe(429);
    expect(second.headers.get('x-ratelimit-remaining-tokens')).toBe('0');
    // 59 000 tokens and one more at 1000 a minute.
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(3500);
    // In the shape of the route's API: OpenAI's or Anthropic's.
    expect(await second.json()).toMatchObject({
      error: { type: 'rate_limit_error', message: expect.stringContaining('1000 tokens per minute') },
    });
    expect(await gateway.metric('uncounted_answers_total')).toBe(0);
  });

  it('do not count what an engine does not compute', async () => {
    const gateway = await start({ API_KEYS: `ann:${sha256('k')}`, KEY_REQUESTS_PER_MINUTE: '1' });
    engine.script = (call) => answerRoute(engine, call);
    const [chatRoute] = engineRoutes;
    const models = (): Promise<Response> => fetch(`${gateway.url}/v1/models`, { headers: bearer('k') });
    for (let time = 0; time < 2; time++) expect((await models()).status).toBe(200);
    expect((await post(chatRoute!, gateway)).status).toBe(200);
    expect((await post(chatRoute!, gateway)).status).toBe(429);
    const answered = await models();
    expect([answered.status, answered.headers.has('x-ratelimit-limit-requests')]).toEqual([200, false]);
  });

  it.each([
    { path: '/v1/chat/completions', body: { messages: userSays('Hi'), stream: true, turn_type: 'side' } },
    { path: '/v1/completions', body: { prompt: 'Hi', stream: true } },
  ])('on tokens: $path, streamed: a client that leaves before the usage pays for what came', async ({ path, body }) => {
    // So few that what was paid is not given back before anybody looks.
    const gateway = await limited(3_000);
    engine.script = (call) => {
      engine.openStream(call);
      const choice = { index: 0, delta: { content: 'a' }, text: 'a', finish_reason: null };
      const event = `data: ${JSON.stringify({ id: 'c', model: 'seed', choices: [choice] })}\n\n`;
      call.response.write(event.repeat(5_000));
      return call.aborted;
    };
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { ...bearer('k'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    for (let bytes = 0; bytes < 200_000;) bytes += (await reader.read()).value!.length;
    leaving.abort();
    await engine.calls.at(-1)!.aborted;
    // A request without messages asks no engine, and is told how much is left.
    const left = async (): Promise<number> =>
      Number((await chat(gateway, 'k', { messages: [] })).headers.get('x-ratelimit-remaining-tokens'));
    await eventually(async () => (await left()) < 2_000);
    expect(await gateway.metric('uncounted_answers_total')).toBe(0);
  });

  it('on tokens: without usage the ids count, and without ids too the answer is free and counted', async () => {
    const gateway = await limited(1000);
    engine.script = (call) => {
      const { usage: _, ...answer } = engine.whole(call, answerOf('one two', { promptIds: Array(2000).fill(7) })) as {
        usage: object;
      };
      call.response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    };
    expect((await chat(gateway, 'k', { turn_type: 'side' })).status).toBe(200);
    expect(await gateway.metric('uncounted_answers_total')).toBe(1);
    expect((await chat(gateway, 'k')).status).toBe(200);
    expect((await chat(gateway, 'k')).status).toBe(429);
    expect(await gateway.metric('uncounted_answers_total')).toBe(1);
  });
});
