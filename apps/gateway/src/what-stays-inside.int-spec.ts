import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { LIMITED_ROUTES } from './api-key.guard';
import { answerRoute, engineRoutes } from './testing/engine-routes';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';
import { startGatewayProcess, type GatewayProcess } from './testing/gateway-process';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** With Node's own client: it sends every header, also those that `fetch` keeps to itself. */
function send(url: string, method: string, headers: Record<string, string>, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...(body && { 'content-type': 'application/json' }), ...headers } });
    sent.on('error', reject).on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(pieces).toString() }),
      );
    });
    sent.end(body && JSON.stringify(body));
  });
}

describe('headers on their way to an engine', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    engine.script = (call) => answerRoute(engine, call);
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_API_KEY: 'engine-key',
      API_KEYS: `ann:${sha256('sk-ann')}`,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
    await nats.stop();
  });

  const allowed = { traceparent: '00-abc-def-01', tracestate: 'v=1', 'x-request-id': 'req-7' };
  const others = {
    authorization: 'Bearer sk-ann',
    'x-api-key': 'sk-ann',
    cookie: 'c=1',
    'proxy-authorization': 'Basic x',
    'x-session-id': 's',
    'x-turn-type': 'side',
    'user-agent': 'client/1.0',
    'accept-language': 'de',
    'x-forwarded-for': '10.0.0.1',
    forwarded: 'for=10.0.0.1',
    'openai-organization': 'org',
    'anthropic-version': '2023-06-01',
    'x-stainless-os': 'Linux',
    'x-custom': 'anything',
  };

  it.each(engineRoutes)('D43 $name: those on the list are handed on, no others', async (route) => {
    engine.calls.length = 0;
    const answer = await send(gateway.url + route.path, 'POST', { ...allowed, ...others }, route.body);
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    const { path, headers } = engine.calls[0]!;
    expect(path).toBe(route.enginePath);
    // Of the connection and the gateway's own request; the key is the engine's.
    const { host: _, connection: __, 'content-length': ___, ...handedOn } = headers;
    expect(handedOn).toEqual({ ...allowed, authorization: 'Bearer engine-key', 'content-type': 'application/json' });
  });

  it('D43 the table has every route with limits', () => {
    const inTable = engineRoutes.filter(({ isLimited }) => isLimited).map(({ path }) => path);
    expect(new Set(inTable)).toEqual(LIMITED_ROUTES);
  });
});

/** Hands bytes between its callers and an engine, and keeps what the callers sent. */
class EngineTap {
  private readonly pieces: Buffer[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async before(engine: FakeEngine): Promise<EngineTap> {
    const server = createServer();
    const tap = new EngineTap(server);
    server.on('connection', (caller: Socket) => {
      const onward = connect(Number(new URL(engine.url).port), '127.0.0.1');
      for (const socket of [caller, onward]) {
        tap.sockets.add(socket.on('error', () => undefined));
        socket.on('close', () => [caller, onward].forEach((end) => end.destroy()));
      }
      caller.on('data', (piece: Buffer) => tap.pieces.push(piece)).pipe(onward);
      onward.pipe(caller);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return tap;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a caller’s secrets', () => {
  /** Each starts alike, so that one search finds any of them, however it was cut or joined. */
  const MARK = 'q7Zx';
  const key = `sk-${MARK}-key`;
  const secrets = {
    authorization: `Bearer ${key}`,
    'x-api-key': `${MARK}-x-api-key`,
    cookie: `session=${MARK}-cookie`,
    'proxy-authorization': `Basic ${MARK}-proxy`,
    'x-session-id': `${MARK}-session-header`,
  };
  let nats: NatsServer;
  let engine: FakeEngine;
  let tap: EngineTap;
  let gateway: GatewayProcess;
  let bus: BusReader;
  let folder: string;
  /** Subject, headers and data of everything that anybody sent through NATS, also what is removed again. */
  const heard: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindcast-secrets-'));
    const limited = { name: 'bob', sha256: sha256(`sk-${MARK}-limited`), requestsPerMinute: 1 };
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [limited] }));
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    engine.script = (call) => answerRoute(engine, call);
    tap = await EngineTap.before(engine);
    bus = await BusReader.connect(nats.url);
    bus.raw.subscribe('>', {
      callback: (_, { subject, headers, data }) =>
        void heard.push(`${subject}\n${headers?.toString() ?? ''}\n${Buffer.from(data).toString('latin1')}`),
    });
    await bus.raw.flush();
    gateway = await startGatewayProcess({
      NATS_URL: nats.url,
      POLICY_BASE_URL: tap.url,
      API_KEYS: `ann:${sha256(key)}`,
      API_KEYS_FILE: join(folder, 'keys.json'),
      DATA_DIR: folder,
      LOG_LEVEL: 'trace',
    });
    await eventually(
      async () =>
        (JSON.parse((await send(`${gateway.url}/readyz`, 'GET', {})).text) as { degraded: [] }).degraded.length === 0,
    );
  });
  afterAll(async () => {
    gateway.kill('SIGKILL');
    await gateway.ended;
    await bus.close();
    await tap.stop();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
    send(gateway.url + path, method, { ...secrets, ...headers }, body);
  const withSession = (body: object): object => ({ ...body, session_id: `${MARK}-session-body` });
  const chat = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    call('POST', '/v1/chat/completions', withSession(body), headers);

  /** All files below DATA_DIR, as text. */
  const filesOf = (path: string): string[] =>
    readdirSync(path).flatMap((name) => {
      const file = join(path, name);
      return statSync(file).isDirectory() ? filesOf(file) : [`${file}\n${readFileSync(file, 'latin1')}`];
    });

  /** Every value that a stream or a bucket holds now. */
  const storedInNats = async (): Promise<string[]> => {
    const manager = await jetstreamManager(bus.raw);
    const stored: string[] = [];
    for await (const { config, state } of manager.streams.list())
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await manager.streams.getMessage(config.name, { seq }).catch(() => null);
        if (message) stored.push(`${message.subject}\n${Buffer.from(message.data).toString('latin1')}`);
      }
    return stored;
  };

  it('reach neither engine nor logs, bus, buckets or disk, whatever becomes of the request', async () => {
    // Served, on every route that an engine is behind.
    for (const { path, body } of engineRoutes) expect((await call('POST', path, withSession(body))).status).toBe(200);
    // A session by header and one by body, continued, rated, and ended in both ways.
    const first = await chat({ messages: userSays('Hello?') });
    const byBody = await chat({ messages: userSays('Hello!') }, { 'x-session-id': '' });
    expect([first.status, byBody.status]).toEqual([200, 200]);
    const turnId = first.headers['x-hindcast-turn-id'] as string;
    const sessions = await Promise.all(
      [turnId, byBody.headers['x-hindcast-turn-id'] as string].map((id) => bus.messageOf('turnCaptured', id)),
    );
    for (const { body } of sessions) expect(body.sessionId).toMatch(/^[0-9a-f]{32}$/);
    await chat({ messages: userSays('Hello?', 'Hello there', 'Bad.'), session_done: true });
    await bus.messageOf('turnPaired', turnId);
    await call('POST', `/v1/sessions/${MARK}-session-path/end`);
    const outcome = await call('POST', `/v1/sessions/${MARK}-session-path/outcome`, { reward: 1 });
    expect(outcome.status).toBe(200);
    await call('POST', '/v1/feedback', { turn_id: turnId, reward: 1 });
    for (const path of ['/v1/models', '/v1/status', `/v1/turns/${turnId}`, '/v1/nowhere', '/docs/openapi.json'])
      await call('GET', path);
    // Refused: no such key, no chat request, no JSON, no HTTP, an engine that fails, a limit that is reached.
    const wrong = { authorization: `Bearer sk-${MARK}-wrong` };
    expect((await chat({ messages: userSays('Hi') }, wrong)).status).toBe(401);
    expect((await chat({ messages: [] })).status).toBe(400);
    const text = { ...secrets, 'content-type': 'application/json' };
    const noJson = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: secrets.authorization, 'content-type': text['content-type'] },
      body: `{"session_id": "${MARK}-json`,
    });
    expect(noJson.status).toBe(400);
    await new Promise<void>((resolve) => {
      const raw = connect(Number(new URL(gateway.url).port), '127.0.0.1', () =>
        raw.write(`GET /v1/models HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n no such header\r\n\r\n`),
      );
      raw.on('data', () => raw.destroy()).on('close', () => resolve());
    });
    engine.script = ({ response }) => response.writeHead(500).end('broken');
    expect((await chat({ messages: userSays('Hi') })).status).toBeGreaterThanOrEqual(500);
    engine.script = (failing) => answerRoute(engine, failing);
    const bob = { authorization: `Bearer sk-${MARK}-limited` };
    expect((await chat({ messages: userSays('Hi') }, bob)).status).toBe(200);
    expect((await chat({ messages: userSays('Hi') }, bob)).status).toBe(429);

    for (const [where, texts] of Object.entries({
      engine: [tap.text],
      bus: heard,
      streams: await storedInNats(),
      log: gateway.lines,
      disk: filesOf(folder),
    })) {
      expect([where, texts.length > 0]).toEqual([where, true]);
      expect([where, texts.filter((found) => found.includes(MARK))]).toEqual([where, []]);
    }
    // The search does find what went through.
    expect(tap.text).toContain('Hello?');
    expect(heard.some((found) => found.includes('Hello?'))).toBe(true);
    expect(heard.some((found) => found.startsWith('$KV.open-turns.session.'))).toBe(true);
    expect(gateway.lines.some((line) => line.includes('turn.captured'))).toBe(true);
  });

  it('reach no file while NATS is away and everything is spooled', async () => {
    await nats.kill();
    await eventually(async () => {
      const { text } = await send(`${gateway.url}/readyz`, 'GET', {});
      return (JSON.parse(text) as { degraded: [] }).degraded.length > 0;
    });
    await eventually(async () => (await chat({ messages: userSays('to the spool') })).status === 200);
    const files = filesOf(folder);
    expect(files.some((file) => file.includes('to the spool'))).toBe(true);
    expect(files.filter((file) => file.includes(MARK))).toEqual([]);
    expect(gateway.lines.filter((line) => line.includes(MARK))).toEqual([]);
  });
});
