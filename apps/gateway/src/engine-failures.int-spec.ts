import { createHash } from 'node:crypto';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { AnswerRecorder } from './answer-recorder';
import { answerOf, FakeEngine, sendJson, type EngineCall } from './testing/fake-engine';
import {
  BusReader,
  dataOf,
  eventually,
  startTestGateway,
  userSays,
  type RunningGateway,
} from './testing/gateway-harness';

interface ErrorShape {
  error: { message: string; type: string; code: string; param: string | null };
}

describe('engine failures and clients that leave', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_TIMEOUT_MS: '700' });
    bus = await BusReader.connect(nats.url);
    await eventually(async () => (await fetch(`${gateway.url}/readyz`).then((r) => r.json())) as object);
  });
  afterAll(async () => {
    // Every main answer that ended was written down or counted, those of clients that left a little later.
    const [ended, known] = await eventually(async () => {
      const [ended, stored, lost] = await gateway.metrics(
        'answers_ended_total',
        'turns_stored_total',
        'uncaptured_total',
      );
      return stored! + lost! >= ended! && [ended!, stored! + lost!];
    });
    expect(ended).toBeGreaterThan(0);
    expect(known).toBe(ended);
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('fine'));
  });
  // Whatever happened: the next turn is served and captured.
  afterEach(async () => {
    engine.script = (call) => engine.answer(call, answerOf('fine'));
    const response = await gateway.chat({ messages: userSays('still there?') });
    expect(response.status).toBe(200);
    await response.text();
  });

  const failed = async (response: Response): Promise<ErrorShape['error']> =>
    ((await response.json()) as ErrorShape).error;

  it.each([
    { status: 400, body: { error: { message: 'context too long', type: 'BadRequestError', code: 400, param: null } } },
    { status: 429, body: { error: { message: 'slow down', type: 'x', code: 'rate', param: null } } },
    { status: 503, body: { object: 'error', message: 'loading', code: 503 } },
  ])('passes on $status with its message and Retry-After, after exactly one call', async ({ status, body }) => {
    engine.script = (call) => sendJson(call.response, status, body, { 'retry-after': '7' });
    for (const stream of [false, true]) {
      const response = await gateway.chat({ messages: userSays('x'), stream });
      expect(response.status).toBe(status);
      expect(response.headers.get('retry-after')).toBe('7');
      expect((await failed(response)).message).toBe(body.error?.message ?? body.message);
    }
    expect(engine.calls).toHaveLength(2);
  });

  it.each([
    {
      name: 'D22 a plain 500',
      write: (call: EngineCall) => call.response.writeHead(500).end('ValueError: Out of range float values'),
    },
    { name: 'an empty answer', write: (call: EngineCall) => call.response.writeHead(200).end() },
    {
      name: 'a page',
      write: (call: EngineCall) =>
        call.response.writeHead(200, { 'content-type': 'text/html' }).end('<html>\n\n</html>'),
    },
    { name: 'JSON that is no completion', write: (call: EngineCall) => sendJson(call.response, 200, { choices: [] }) },
    {
      name: 'cut JSON',
      write: (call: EngineCall) => call.response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":'),
    },
    { name: 'a socket that closes', write: (call: EngineCall) => call.response.socket!.destroy() },
    {
      name: 'D41 a socket cut inside the body',
      write: (call: EngineCall) => {
        call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"id"');
        setImmediate(() => call.response.socket!.destroy());
      },
    },
  ])('$name is a 502 in OpenAI’s shape, streamed or not', async ({ write }) => {
    engine.script = write;
    for (const stream of [false, true]) {
      const response = await gateway.chat({ messages: userSays('x'), stream });
      expect(response.status).toBe(502);
      expect(await failed(response)).toMatchObject({
        type: 'server_error',
        code: expect.stringMatching(/^engine-/) as string,
      });
    }
  });

  it.each(['data: [DONE]\n\n', ': ping\n\n', ': ping\n\ndata: [DONE]\n\n'])(
    'a stream of only %j is an error and no answer',
    async (stream) => {
      engine.script = (call) => {
        engine.openStream(call);
        call.response.end(stream);
      };
      const response = await gateway.chat({ messages: userSays('x'), stream: true });
      const text = await response.text();
      expect(text).not.toContain('[DONE]');
      expect(text).toContain('"the engine sent no answer"');
      // A comment has begun the answer, with its turn.
      const turnId = response.headers.get('x-hindcast-turn-id');
      expect([response.status, turnId !== null]).toEqual(stream.startsWith(':') ? [200, true] : [502, false]);
      if (turnId) expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('failed');
    },
  );

  it('an engine that never answers is a 504', async () => {
    engine.script = () => undefined;
    const response = await gateway.chat({ messages: userSays('x') });
    expect(response.status).toBe(504);
    expect((await failed(response)).code).toBe('engine-timeout');
  });

  it('D40 an error as the first event keeps its status', async () => {
    engine.script = (call) => {
      engine.openStream(call);
      call.response.end('data: {"error":{"message":"bad prompt","type":"x","code":400}}\n\ndata: [DONE]\n\n');
    };
    const response = await gateway.chat({ messages: userSays('x'), stream: true });
    expect(response.status).toBe(400);
    expect((await failed(response)).message).toBe('bad prompt');
  });

  it.each([
    {
      name: 'D49 an error event midway',
      tail: 'event: error\ndata: {"error":{"message":"died"}}\n\n',
      expected: 'failed',
    },
    {
      name: 'D49 an event named error without an error in it',
      tail: 'event: error\ndata: {"message":"died"}\n\n',
      expected: 'failed',
    },
    {
      name: 'D49 an engine that goes on after its error',
      tail: 'data: {"error":{"message":"died"}}\n\ndata: {"id":"x","choices":[]}\n\n',
      expected: 'failed',
    },
    { name: 'D53 a socket cut midway', tail: null, expected: 'failed' },
    { name: 'a stream that ends midway', tail: '', expected: 'failed' },
    {
      name: 'D47 an event glued into another',
      tail: 'data: {"id":"x","choi\ndata: {"id":"x","choices":[]}\n\n',
      expected: 'malformed-stream',
    },
  ])('$name: the client sees an error, the turn is never trained', async ({ tail, expected }) => {
    engine.script = (call) => {
      engine.openStream(call);
      for (const event of engine.events(call, answerOf('one two three')).slice(0, 3)) call.response.write(event);
      if (tail === null) setImmediate(() => call.response.socket!.destroy());
      else call.response.end(tail);
    };
    const response = await gateway.chat({ messages: userSays('x'), stream: true });
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    const events = dataOf((await response.text()).replaceAll('event: error\n', ''));
    expect(events.at(-1)).toContain('"error"');
    const { body } = await bus.messageOf('turnCaptured', turnId);
    expect(body).toMatchObject({ completionTokens: 2, untrainable: expected === 'failed' ? null : expected });
    if (expected === 'failed') expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('failed');
    expect(await bus.capture(turnId)).toBeNull();
  });

  it.each([
    { name: 'D36 mid-stream', stream: true, started: true },
    { name: 'D38 before the first byte', stream: true, started: false },
    { name: 'D39 not streamed', stream: false, started: false },
  ])('a client that leaves $name closes the engine’s request', async ({ stream, started }) => {
    engine.script = (call) => {
      if (!started) return;
      engine.openStream(call);
      for (const event of engine.events(call, answerOf('one two three')).slice(0, 3)) call.response.write(event);
    };
    const leaving = new AbortController();
    const answer = gateway.chat({ messages: userSays(`leave ${stream} ${started}`), stream }, {}, leaving.signal);
    let turnId: string | null = null;
    if (started) {
      const response = await answer;
      turnId = response.headers.get('x-hindcast-turn-id');
      await response.body!.getReader().read();
    } else answer.catch(() => undefined);
    const call = await eventually(() => Promise.resolve(engine.calls[0]));
    leaving.abort();
    await call.aborted;
    if (turnId)
      expect((await bus.messageOf('turnClosed', turnId)).body).toMatchObject({
        reason: 'failed',
        detail: 'the client went away',
      });
  });

  it.each([true, false])(
    'an answer whose names are objects is served and written down, streamed %s',
    async (stream) => {
      const message = { role: 'assistant', tool_calls: [{ function: { name: { toString: 1, valueOf: 2 } } }] };
      engine.script = (call) => {
        const choice = { index: 0, message, delta: message, finish_reason: 'stop' };
        const body = { id: `odd-${stream}`, model: 'seed', choices: [choice] };
        if (!stream) return sendJson(call.response, 200, body);
        engine.openStream(call);
        call.response.end(`data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`);
      };
      const messages = [...userSays('odd'), message, ...userSays('more')];
      const response = await gateway.chat({ messages, stream });
      expect(response.status).toBe(200);
      await response.text();
      const captured = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
      expect(captured.body.untrainable).not.toBeNull();
    },
  );

  it('a refusal whose body never ends holds no client: another attempt is made', async () => {
    let attempts = 0;
    engine.script = (call) => {
      if (++attempts > 1) return engine.answer(call, answerOf('fine'));
      call.response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' }).write('{');
    };
    const patient = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_RETRIES: '2' });
    const response = await patient.chat({ messages: userSays('endless') });
    expect([response.status, attempts]).toEqual([200, 2]);
    await engine.calls[0]!.aborted;
    await patient.stop();
  });

  it.each([
    { why: 'an empty finish reason', choice: { index: 0, delta: { content: 'one' }, finish_reason: '' } },
    { why: 'a choice nobody asked for', choice: { index: 1, delta: { content: 'one' }, finish_reason: 'stop' } },
  ])('$why finishes no answer: the client that leaves after it ends it', async ({ choice }) => {
    engine.script = (call) => {
      engine.openStream(call);
      call.response.write(`data: ${JSON.stringify({ id: 'begun', model: 'seed', choices: [choice] })}\n\n`);
    };
    const leaving = new AbortController();
    const response = await gateway.chat({ messages: userSays(choice.finish_reason), stream: true }, {}, leaving.signal);
    await response.body!.getReader().read();
    leaving.abort();
    await engine.calls[0]!.aborted;
    const closed = await bus.messageOf('turnClosed', response.headers.get('x-hindcast-turn-id')!);
    expect(closed.body).toMatchObject({ reason: 'failed', detail: 'the client went away' });
  });

  it('D37 a hundred clients that leave hold no engine connection', async () => {
    engine.script = (call) => {
      engine.openStream(call);
      call.response.write(engine.events(call, answerOf('one two'))[0]);
    };
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const leaving = new AbortController();
        const response = await gateway.chat({ messages: userSays('x'), stream: true }, {}, leaving.signal);
        await response.body!.getReader().read();
        leaving.abort();
      }),
    );
    await Promise.all(engine.calls.map((call) => call.aborted));
    await eventually(() =>
      Promise.resolve(engine.calls.every((call) => call.response.socket === null || call.response.socket.destroyed)),
    );
  });

  it('a fault of the gateway’s own costs the capture, is counted, and the client has its answer', async () => {
    const recorder = gateway.service.app.get(AnswerRecorder);
    jest.spyOn(recorder, 'record').mockRejectedValueOnce(new Error('a fault'));
    const response = await gateway.chat({ messages: userSays('fault') });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('fine')]);
    expect(await gateway.metric('uncaptured_total', 'internal')).toBe(1);
  });

  it('an answer that the engine had finished is complete although the client left', async () => {
    let finish = (): void => undefined;
    engine.script = (call) => {
      engine.openStream(call);
      const events = engine.events(call, answerOf('one two'));
      for (const event of events.slice(0, 3)) call.response.write(event);
      finish = () => call.response.end(events.slice(3).join(''));
    };
    const leaving = new AbortController();
    const response = await gateway.chat({ messages: userSays('finished'), stream: true }, {}, leaving.signal);
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    // The third event carries the finish reason: the gateway holds it, and releases it when nothing more comes.
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('finish_reason":"stop"')) text += Buffer.from((await reader.read()).value!).toString();
    leaving.abort();
    await reader.closed.catch(() => undefined);
    finish();
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBeNull();
    expect(await bus.capture(turnId)).not.toBeNull();
  });

  it.each([
    { body: '{"messages":', type: 'application/json', status: 400 },
    { body: '{}', type: 'application/json', status: 400 },
    { body: '{"messages":[]}', type: 'application/json', status: 400 },
    { body: '{"messages":[{"role":"robot","content":"x"}]}', type: 'application/json', status: 400 },
    { body: 'null', type: 'application/json', status: 400 },
    { body: 'x', type: 'text/plain', status: 400 },
  ])('a bad request is refused before the engine: $body', async ({ body, type, status }) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    if (type === 'text/plain') expect([400, 415]).toContain(response.status);
    else expect(response.status).toBe(status);
    expect((await failed(response)).type).toBe('invalid_request_error');
    expect(engine.calls).toHaveLength(0);
  });
});

describe('D16 other dialects', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let gateway: RunningGateway | null = null;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start('sglang');
    bus = await BusReader.connect(nats.url);
  });
  afterEach(() => gateway?.stop());
  afterAll(async () => {
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  it.each([
    { dialect: 'sglang', giveIds: true, stream: true, untrainable: null },
    { dialect: 'sglang', giveIds: true, stream: false, untrainable: null },
    { dialect: 'sglang', giveIds: false, stream: true, untrainable: 'no-token-ids' },
    { dialect: 'openai', giveIds: false, stream: true, untrainable: 'no-token-ids' },
    { dialect: 'openai', giveIds: false, stream: false, untrainable: 'no-token-ids' },
  ])('$dialect, ids $giveIds, stream $stream: $untrainable', async ({ dialect, giveIds, stream, untrainable }) => {
    engine.calls.length = 0;
    engine.script = (call) => {
      // As a server does that does not know these fields.
      if (!giveIds)
        for (const field of Object.keys(call.body)) if (field.startsWith('return_')) delete call.body[field];
      engine.answer(call, answerOf('one two'));
    };
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
    const response = await gateway.chat({ messages: userSays('hi'), stream });
    expect(await response.text()).not.toMatch(/"logprob"|token_ids|sglext/);
    const { body } = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
    expect(body).toMatchObject({ untrainable, completionTokens: 2 });
    expect('top_k' in engine.calls[0]!.body).toBe(dialect !== 'openai');
  });

  it('SGLang gets an adapter as base:adapter, also when an older one must answer', async () => {
    await eventually(() => bus.bucket('policy'));
    await bus.setPolicy('current', { version: 9, adapter: 'hindcast-v000009', engines: [engine.url], at: 1 });
    engine.calls.length = 0;
    engine.models = [{ id: 'seed' }, { id: 'hindcast-v000004', parent: 'seed' }];
    engine.script = (call) =>
      call.body['model'] === 'seed:hindcast-v000004'
        ? engine.answer(call, answerOf('older'))
        : engine.refuse(call, 400, 'Got LoRA adapter that has never been loaded: hindcast-v000009');
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: 'sglang' });
    const response = await gateway.chat({ messages: userSays('hi') });
    expect(engine.calls.map(({ body }) => body['model'])).toEqual(['seed:hindcast-v000009', 'seed:hindcast-v000004']);
    const { body } = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
    expect(body).toMatchObject({ policyVersion: 4, model: 'seed:hindcast-v000004' });
  });
});

describe('request limits, keys and what stays inside', () => {
  const key = 'sk-secret-key';
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_API_KEY: 'engine-key',
      API_KEYS: `ann:${hash(key)},bob:${hash('sk-bob')}`,
      MAX_BODY_BYTES: String(6 * 1024 * 1024),
    });
    bus = await BusReader.connect(nats.url);
    await eventually(() => bus.bucket('openTurns'));
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
  const asAnn = { authorization: `Bearer ${key}` };

  it.each<Record<string, string>>([{}, { authorization: 'Bearer wrong' }, { authorization: 'Basic x' }])(
    '401 without a known key: %j',
    async (headers) => {
      for (const path of ['/v1/models', '/v1/status', '/v1/turns/x'])
        expect((await fetch(gateway.url + path, { headers })).status).toBe(401);
      const response = await gateway.chat({ messages: userSays('x') }, headers);
      expect(response.status).toBe(401);
      expect(((await response.json()) as ErrorShape).error.code).toBe('unauthorized');
    },
  );

  it.each([401, 403])(
    'an engine that refuses the gateway’s own key with %d is a 502 that says so, and shows no key',
    async (status) => {
      const { script } = engine;
      const refusal = { error: { message: 'no such key: engine-key', code: status } };
      for (const stream of [false, true]) {
        engine.script = (call) => {
          if (!stream) return sendJson(call.response, status, refusal);
          engine.openStream(call);
          call.response.end(`data: ${JSON.stringify(refusal)}\n\n`);
        };
        const response = await gateway.chat({ messages: userSays('x'), stream }, asAnn);
        const text = await response.text();
        expect([response.status, text]).toEqual([502, expect.stringContaining('POLICY_API_KEY')]);
        expect((JSON.parse(text) as ErrorShape).error).toMatchObject({
          code: 'engine-unauthorized',
          type: 'server_error',
        });
        expect(text).not.toContain('engine-key');
      }
      engine.script = script;
    },
  );

  it('does not show a client the engine’s key that the engine quotes', async () => {
    const { script } = engine;
    engine.script = (call) => sendJson(call.response, 400, { error: { message: `no such key: engine-key` } });
    const whole = await gateway.chat({ messages: userSays('x') }, asAnn);
    expect(await whole.text()).toContain('no such key: ***');
    engine.script = (call) => {
      engine.openStream(call);
      call.response.end('data: {"error":{"message":"no such key: engine-key","code":400}}\n\n');
    };
    const streamed = await gateway.chat({ messages: userSays('x'), stream: true }, asAnn);
    expect([streamed.status, await streamed.text()]).toEqual([400, expect.stringContaining('no such key: ***')]);
    engine.script = script;
  });

  it('D55 takes 5 MB, D54 refuses what is over the limit with 413', async () => {
    const big = await gateway.chat({ messages: userSays('x'.repeat(5_000_000)) }, asAnn);
    expect(big.status).toBe(200);
    const over = await gateway.chat({ messages: userSays('x'.repeat(7_000_000)) }, asAnn);
    expect(over.status).toBe(413);
    expect(((await over.json()) as ErrorShape).error).toMatchObject({
      type: 'invalid_request_error',
      code: 'body-too-large',
    });
  });

  it('D43 hands allowed headers on, and no key, cookie or session id, upstream or onto the bus', async () => {
    engine.calls.length = 0;
    const response = await gateway.chat(
      { messages: userSays('hush'), session_id: 'raw-session-body' },
      {
        ...asAnn,
        cookie: 'c=raw-cookie',
        'x-session-id': 'raw-session',
        'x-request-id': 'req-7',
        traceparent: '00-abc',
      },
    );
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    const captured = await bus.messageOf('turnCaptured', turnId);
    const call = engine.calls[0]!;
    expect(call.headers).toMatchObject({
      'x-request-id': 'req-7',
      traceparent: '00-abc',
      authorization: 'Bearer engine-key',
    });
    const everything =
      call.rawHeaders +
      JSON.stringify(call.body) +
      JSON.stringify(captured) +
      JSON.stringify((await bus.capture(turnId))!.header);
    for (const secret of [key, 'raw-cookie', 'raw-session']) expect(everything).not.toContain(secret);
    expect(captured.tenant).toBe('ann');
    expect(captured.body.sessionId).toMatch(/^[0-9a-f]{32}$/);
  });

  it('D2 one tenant never pairs the turn of another', async () => {
    const first = await gateway.chat({ messages: userSays('same') }, asAnn);
    await first.text();
    const turnId = first.headers.get('x-hindcast-turn-id')!;
    const next = { messages: [...userSays('same', 'Hello'), { role: 'user', content: 'bad' }] };
    await (await gateway.chat(next, { authorization: 'Bearer sk-bob' })).text();
    await (await gateway.chat(next, asAnn)).text();
    const paired = await bus.messageOf('turnPaired', turnId);
    expect(paired.tenant).toBe('ann');
    expect((await bus.messages('turnPaired')).filter((message) => message.tenant === 'bob')).toEqual([]);
  });
});
