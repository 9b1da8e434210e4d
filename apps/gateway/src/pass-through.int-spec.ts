import OpenAI from 'openai';
import { DONE, EVENTS, USAGE } from './testing/completion-events';
import { sendJson, type EngineCall, type FakeEngine } from './testing/fake-engine';
import { eventually, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';
import { keyOf } from './testing/keys';

describe('completions and embeddings are handed on', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage({
      POLICY_API_KEY: 'engine-key',
      API_KEYS: keyOf('ann', 'sk-ann'),
      MAX_BODY_BYTES: '100000',
      POLICY_RETRIES: '0',
    });
    ({ engine, gateway, bus } = stage);
    const current = { version: 9, adapter: 'hindcast-v000009', engines: [engine.url], at: 1 };
    await eventually(() => bus.setPolicy('current', current).then(() => true));
    await eventually(async () => (await gateway.metric('policy_version')) === 9);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.models = [{ id: 'seed' }, { id: 'hindcast-v000009', parent: 'seed' }, { id: 'bge', parent: null }];
  });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-ann', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const streams =
    (...pieces: (string | Buffer)[]) =>
    (call: EngineCall): void => {
      engine.openStream(call);
      for (const piece of pieces) call.response.write(piece);
      call.response.end();
    };

  it('a stream, byte for byte, wherever it is cut', async () => {
    const bytes = Buffer.from([...EVENTS, USAGE, DONE].join(''));
    for (let cut = 1; cut < bytes.length; cut += 7) {
      engine.script = async (call) => {
        engine.openStream(call);
        call.response.write(bytes.subarray(0, cut));
        // The first piece leaves before the second is there.
        for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
        call.response.end(bytes.subarray(cut));
      };
      const response = await post('completions', { prompt: 'x', stream: true });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    }
  });

  it.each(['completions', 'embeddings'])(
    'a whole answer of /v1/%s, byte for byte, uncaptured and counted',
    async (path) => {
      const before = await gateway.metric('skipped_total', 'not-chat');
      const text = '{"object": "list" , "data":[{"embedding":[1e-07, -0.0,0.10]}],\n "usage":{"prompt_tokens":3}}';
      engine.script = (call) => call.response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      const response = await post(path, { input: 'x', model: 'seed' });
      expect([response.status, await response.text()]).toEqual([200, text]);
      expect(response.headers.get('x-hindcast-turn-id')).toBeNull();
      expect(await gateway.metric('skipped_total', 'not-chat')).toBe(before + 1);
      expect(engine.calls[0]!.path).toBe(`/v1/${path}`);
      expect(await bus.messages('turnCaptured')).toEqual([]);
    },
  );

  it.each([
    { path: 'completions', model: 'gpt-4', sent: 'hindcast-v000009', why: 'the current version' },
    { path: 'completions', model: undefined, sent: 'hindcast-v000009', why: 'the current version' },
    { path: 'completions', model: 'seed', sent: 'seed', why: 'listed' },
    { path: 'embeddings', model: 'bge', sent: 'bge', why: 'as named' },
    {
      path: 'embeddings',
      model: 'text-embedding-3-small',
      sent: 'text-embedding-3-small',
      why: 'as named, listed or not',
    },
    { path: 'embeddings', model: undefined, sent: 'seed', why: 'the base model' },
  ])('/v1/$path of $model is asked of $sent: $why', async ({ path, model, sent }) => {
    engine.script = (call) => sendJson(call.response, 200, {});
    await post(path, { ...(model !== undefined && { model }) });
    expect(engine.calls.map(({ body }) => body['model'])).toEqual([sent]);
  });

  it('D43 allowed headers go on; keys, cookies, session ids and own fields stay here', async () => {
    engine.script = (call) => sendJson(call.response, 200, {});
    for (const path of ['completions', 'embeddings']) {
      engine.calls.length = 0;
      await post(
        path,
        { input: 'x', prompt: 'x', session_id: 'raw-session', turn_type: 'main', session_done: true, user: 'u' },
        { cookie: 'c=raw-cookie', 'x-session-id': 'raw-session', 'x-request-id': 'req-7', traceparent: '00-abc' },
      );
      const { headers, rawHeaders, body } = engine.calls[0]!;
      expect(headers).toMatchObject({
        'x-request-id': 'req-7',
        traceparent: '00-abc',
        authorization: 'Bearer engine-key',
      });
      for (const secret of ['sk-ann', 'raw-cookie', 'raw-session'])
        expect(rawHeaders + JSON.stringify(body)).not.toContain(secret);
      expect(Object.keys(body).sort()).toEqual(['input', 'model', 'prompt', 'user']);
    }
  });

  it.each([
    { status: 400, expected: 400 },
    { status: 404, expected: 404 },
    { status: 429, expected: 429 },
    { status: 501, expected: 501 },
    { status: 503, expected: 503 },
    { status: 401, expected: 502 },
  ])('an engine’s $status is a $expected with its message and Retry-After', async ({ status, expected }) => {
    engine.script = (call) =>
      sendJson(call.response, status, { object: 'error', message: 'so it is', code: status }, { 'retry-after': '7' });
    for (const path of ['completions', 'embeddings']) {
      const response = await post(path, { input: 'x', stream: path === 'completions' });
      expect([response.status, response.headers.get('retry-after')]).toEqual([expected, '7']);
      const { error } = (await response.json()) as { error: { message: string } };
      expect(error.message).toContain(expected === 502 ? 'POLICY_API_KEY' : 'so it is');
    }
  });

  it.each([
    { name: 'between two events', sent: EVENTS.slice(0, 2) },
    { name: 'inside an event', sent: [...EVENTS.slice(0, 1), EVENTS[1]!.slice(0, 30)] },
  ])('a stream that is cut $name ends with an error event of its own', async ({ sent }) => {
    engine.script = (call) => {
      engine.openStream(call);
      // Ended, not reset: a reset may overtake what was written before it.
      call.response.write(sent.join(''), () => call.response.socket!.end());
    };
    const text = await (await post('completions', { prompt: 'x', stream: true })).text();
    // What is left of a cut event may be kept back: no client could read it.
    expect(text.startsWith(sent.filter((event) => event.endsWith('\n\n')).join(''))).toBe(true);
    const last = text.trimEnd().split('\n\n').at(-1)!;
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({
      error: { code: 'engine-stream-broken', type: 'server_error' },
    });
  });

  it.each([
    { name: 'a stream of nothing', script: streams() },
    {
      name: 'a body that is cut',
      script: (call: EngineCall): void => {
        call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"id"');
        setImmediate(() => call.response.socket!.destroy());
      },
    },
    { name: 'a socket that closes', script: (call: EngineCall): void => void call.response.socket!.destroy() },
  ])('$name is a 502', async ({ script }) => {
    engine.script = (call) => script(call);
    const response = await post('completions', { prompt: 'x', stream: true });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { type: 'server_error' } });
  });

  it.each([
    { body: [], status: 400 },
    { body: { model: 3 }, status: 400 },
    { body: { stream_options: 'x' }, status: 400 },
    { body: { prompt: 'x'.repeat(100_001) }, status: 413 },
  ])('a bad request is refused before the engine: $status', async ({ body, status }) => {
    for (const path of ['completions', 'embeddings']) {
      const response = await post(path, body);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    }
    expect(engine.calls).toHaveLength(0);
  });

  it('401 without a known key', async () => {
    for (const path of ['completions', 'embeddings'])
      expect((await post(path, {}, { authorization: 'Bearer x' })).status).toBe(401);
    expect(engine.calls).toHaveLength(0);
  });

  it('the official client reads both', async () => {
    const client = new OpenAI({ apiKey: 'sk-ann', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    engine.script = streams(...EVENTS, USAGE, DONE);
    let text = '';
    for await (const chunk of await client.completions.create({ model: 'x', prompt: 'x', stream: true }))
      text += chunk.choices[0]?.text ?? '';
    expect(text).toBe('北 😀');
    engine.script = (call) =>
      sendJson(call.response, 200, { object: 'list', model: 'bge', data: [{ index: 0, embedding: [0.5] }] });
    const { data } = await client.embeddings.create({ model: 'bge', input: 'x', encoding_format: 'float' });
    expect(data[0]!.embedding).toEqual([0.5]);
  });

  it('a documented route that is not served says so, in OpenAI’s shape, whatever its body', async () => {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.wav');
    const requests: [string, RequestInit][] = [
      ['audio/transcriptions', { method: 'POST', body: form }],
      ['images/generations', { method: 'POST', body: '{"prompt":', headers: { 'content-type': 'application/json' } }],
      ['files', { method: 'GET' }],
      ['chat/completions', { method: 'GET' }],
    ];
    for (const [path, init] of requests) {
      const response = await fetch(`${gateway.url}/v1/${path}`, init);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: {
          message: expect.stringContaining(`does not serve ${init.method} /v1/${path}`) as string,
          type: 'invalid_request_error',
          code: 'not-found',
        },
      });
    }
  });
});
