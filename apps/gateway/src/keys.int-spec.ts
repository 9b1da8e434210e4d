import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log, parseConfig } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { GatewayConfig } from './config';
import { answerRoute, engineRoutes, type EngineRoute } from './testing/engine-routes';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
interface KeyEntry {
  readonly name: string;
  readonly sha256: string;
  readonly [field: string]: unknown;
}
const named = (name: string, key: string, more: object = {}): KeyEntry => ({ name, sha256: sha256(key), ...more });
const fileOf = (...keys: KeyEntry[]): string => JSON.stringify({ keys });

let nats: NatsServer;
let engine: FakeEngine;
const cleanUp: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  nats = await startNatsServer();
  engine = await FakeEngine.start();
});
afterAll(async () => {
  await engine.stop();
  await nats.stop();
});
beforeEach(() => {
  engine.script = (call) => engine.answer(call, answerOf('Hello there'));
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'hindcast-keys-'));
  cleanUp.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
const start = async (env: Record<string, string>): Promise<RunningGateway> => {
  const gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, ...env });
  cleanUp.push(() => gateway.stop());
  return gateway;
};
const statusOf = async (gateway: RunningGateway, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${gateway.url}/v1/models`, { headers })).status;
const becomes = (gateway: RunningGateway, key: string, status: number): Promise<true> =>
  eventually(async () => (await statusOf(gateway, bearer(key))) === status || null) as Promise<true>;

describe('the keys file', () => {
  const rewrite = (file: string, text: string): void => {
    writeFileSync(`${file}.part`, text);
    renameSync(`${file}.part`, file);
  };

  it('rotates keys without a restart, with an overlap; what is removed is refused', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf(named('ann', 'old')));
    const gateway = await start({ API_KEYS_FILE: file, API_KEYS: `bob:${sha256('bobs')}` });
    expect(await statusOf(gateway, bearer('old'))).toBe(200);
    expect(await statusOf(gateway, bearer('new'))).toBe(401);
    rewrite(file, fileOf(named('ann', 'old'), named('ann', 'new')));
    await becomes(gateway, 'new', 200);
    expect(await statusOf(gateway, bearer('old'))).toBe(200);
    rewrite(file, fileOf(named('ann', 'new')));
    await becomes(gateway, 'old', 401);
    expect(await statusOf(gateway, bearer('new'))).toBe(200);
    rewrite(file, fileOf());
    await becomes(gateway, 'new', 401);
    expect(await statusOf(gateway, bearer('bobs'))).toBe(200);
  });

  it('may be a mounted secret: a link through a folder that is swapped', async () => {
    const mount = folder();
    const version = (name: string, text: string): void => {
      mkdirSync(join(mount, name));
      writeFileSync(join(mount, name, 'keys.json'), text);
      symlinkSync(name, join(mount, '..next'));
      renameSync(join(mount, '..next'), join(mount, '..data'));
    };
    version('..1', fileOf(named('ann', 'old')));
    symlinkSync(join('..data', 'keys.json'), join(mount, 'keys.json'));
    const gateway = await start({ API_KEYS_FILE: join(mount, 'keys.json') });
    expect(await statusOf(gateway, bearer('old'))).toBe(200);
    version('..2', fileOf(named('ann', 'new')));
    await becomes(gateway, 'new', 200);
    expect(await statusOf(gateway, bearer('old'))).toBe(401);
  });

  it('is noticed where its folder shows no change: a link to another place', async () => {
    const [here, there] = [folder(), folder()];
    writeFileSync(join(there, 'k'), fileOf(named('ann', 'old')));
    symlinkSync(join(there, 'k'), join(here, 'keys.json'));
    const gateway = await start({ API_KEYS_FILE: join(here, 'keys.json') });
    writeFileSync(join(there, 'k'), fileOf(named('ann', 'new')));
    await becomes(gateway, 'new', 200);
    expect(await statusOf(gateway, bearer('old'))).toBe(401);
  });

  it('changes nothing while it is broken or gone, and says so without quoting it', async () => {
    const secret = 'sk-secret-in-the-file';
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf(named('ann', 'good')));
    const logged = jest.spyOn(Log.prototype, 'error');
    const gateway = await start({ API_KEYS_FILE: file });
    const refusals = (): unknown[] => logged.mock.calls.filter(([event]) => event === 'keys.refused');
    const brokenFiles = [
      `{"keys": "${secret}`,
      JSON.stringify({ keys: [{ name: 'ann', sha256: secret, [secret]: secret }] }),
      fileOf(named('ann', 'a'), named('ann', 'b', { tenant: secret })),
    ];
    for (const [index, text] of brokenFiles.entries()) {
      rewrite(file, text);
      await eventually(async () => refusals().length === index + 1);
      expect(await gateway.metric('api_keys_file_broken')).toBe(1);
      expect(await statusOf(gateway, bearer('good'))).toBe(200);
    }
    rmSync(file);
    await eventually(async () => refusals().length === brokenFiles.length + 1);
    expect(await statusOf(gateway, bearer('good'))).toBe(200);
    expect(JSON.stringify(logged.mock.calls)).not.toContain(secret);
    expect(JSON.stringify(logged.mock.calls.at(-1))).toContain('ENOENT');
    rewrite(file, fileOf(named('ann', 'next')));
    await becomes(gateway, 'next', 200);
    expect(await gateway.metric('api_keys_file_broken')).toBe(0);
    expect(refusals()).toHaveLength(brokenFiles.length + 1);
  });

  it.each([
    { why: 'that is missing', text: null, problem: /API_KEYS_FILE: it cannot be read \(ENOENT\)/ },
    { why: 'that is broken', text: 'sk-secret', problem: /API_KEYS_FILE: it is not JSON/ },
    { why: 'that contradicts API_KEYS', text: fileOf(named('bob', 'k', { tenant: 'x' })), problem: /another tenant/ },
  ])('keeps the gateway from starting with one $why', async ({ text, problem }) => {
    const file = join(folder(), 'keys.json');
    if (text !== null) writeFileSync(file, text);
    const started = startTestGateway(
      { NATS_URL: nats.url, API_KEYS_FILE: file, API_KEYS: `bob:${sha256('b')}` },
      folder(),
    );
    await expect(started).rejects.toMatchObject({ code: 'config-invalid', message: expect.stringMatching(problem) });
  });

  it('counts as keys: other addresses may be served, and nobody gets in without one', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf());
    const gateway = await start({ API_KEYS_FILE: file });
    expect(await statusOf(gateway, {})).toBe(401);
    const parse = (env: Record<string, string>): unknown => parseConfig('gateway', GatewayConfig, env);
    expect(() => parse({ HOST: '0.0.0.0', API_KEYS_FILE: file })).not.toThrow();
    expect(() => parse({ HOST: '0.0.0.0' })).toThrow(/API_KEYS_FILE/);
  });
});

describe('a request’s key', () => {
  it('is taken from Authorization or x-api-key, whichever is known, until it expires', async () => {
    const file = join(folder(), 'keys.json');
    const [past, future] = [new Date(Date.now() - 1000), new Date(Date.now() + 3_600_000)];
    writeFileSync(
      file,
      fileOf(
        named('ann', 'good', { expiresAt: future.toISOString() }),
        named('eve', 'expired', { expiresAt: past.toISOString() }),
      ),
    );
    const gateway = await start({ API_KEYS_FILE: file });
    const cases: [Record<string, string>, number][] = [
      [bearer('good'), 200],
      [{ 'x-api-key': 'good' }, 200],
      [{ ...bearer('wrong'), 'x-api-key': 'good' }, 200],
      [{ ...bearer('good'), 'x-api-key': 'wrong' }, 200],
      [{ authorization: 'Basic good' }, 401],
      [{ 'x-api-key': sha256('good') }, 401],
      [bearer('expired'), 401],
      [{ ...bearer('expired'), 'x-api-key': 'good' }, 200],
      [{}, 401],
    ];
    for (const [headers, status] of cases)
      expect([headers, await statusOf(gateway, headers)]).toEqual([headers, status]);
    const refused = await fetch(`${gateway.url}/v1/models`, { headers: bearer('expired') });
    expect(await refused.json()).toMatchObject({
      error: { type: 'authentication_error', code: 'unauthorized', message: 'the API key has expired' },
    });
  });
});

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
    const gateway = await limited(100_000);
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
    await eventually(async () => (await left()) < 99_000);
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

describe('CORS', () => {
  const page = 'https://app.example';
  const preflight = (gateway: RunningGateway, origin: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  const corsOf = (response: Response): string[] =>
    [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));

  it('is off by default', async () => {
    const gateway = await start({});
    const asked = await preflight(gateway, page);
    expect([asked.status, corsOf(asked), asked.headers.has('vary')]).toEqual([404, [], false]);
    for (const stream of [true, false])
      expect(corsOf(await gateway.chat({ messages: userSays('Hi'), stream }, { origin: page }))).toEqual([]);
  });

  it('lets pages of the listed origins read answers, streamed or not, and errors; no others', async () => {
    const gateway = await start({
      CORS_ORIGINS: `${page}, http://localhost:3000`,
      API_KEYS: `ann:${sha256('k')}`,
      KEY_REQUESTS_PER_MINUTE: '100',
    });
    const asked = await preflight(gateway, page);
    expect([asked.status, await asked.text()]).toEqual([204, '']);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization,content-type',
      vary: expect.stringContaining('Origin'),
    });
    const read = async (origin: string, headers: Record<string, string>, more: object = {}): Promise<Response> => {
      const response = await gateway.chat({ messages: userSays('Hi'), ...more }, { origin, ...headers });
      await response.text();
      return response;
    };
    for (const [headers, more, status] of [
      [bearer('k'), {}, 200],
      [bearer('k'), { stream: true }, 200],
      [bearer('k'), { messages: [] }, 400],
      [bearer('wrong'), {}, 401],
    ] as const) {
      const response = await read('http://localhost:3000', headers, more);
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
        status,
        'http://localhost:3000',
      ]);
      const exposed = response.headers.get('access-control-expose-headers')!.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['x-hindcast-turn-id', 'x-ratelimit-remaining-requests']));
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    }
    expect(corsOf(await read('https://evil.example', bearer('k')))).toEqual([]);
    const refused = await preflight(gateway, 'https://evil.example');
    expect([refused.status, corsOf(refused)]).toEqual([404, []]);
  });

  it.each(['*', 'https://app.example/', 'app.example'])('does not start with CORS_ORIGINS=%s', (origins) => {
    expect(() => parseConfig('gateway', GatewayConfig, { CORS_ORIGINS: origins })).toThrow(/CORS_ORIGINS: an origin/);
  });
});

describe('a caller without a key', () => {
  it.each([
    { reason: 'no JSON', body: '{', type: 'application/json' },
    { reason: 'larger than any body may be', body: 'x'.repeat(3_000), type: 'application/json' },
    { reason: 'of no known type', body: 'x', type: 'application/xml' },
  ])('is refused before its body is read: $reason', async ({ body, type }) => {
    const gateway = await start({ API_KEYS: `ann:${sha256('anns')}`, MAX_BODY_BYTES: '1000' });
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/feedback']) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(response.status).toBe(401);
      expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(/API key/);
    }
    expect((await fetch(`${gateway.url}/v1/nothing`)).status).toBe(404);
  });
});
