import { createHash } from 'node:crypto';
import { sendJson, type FakeEngine } from './testing/fake-engine';
import { eventually, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

interface ErrorShape {
  error: { message: string; type: string; code: string; param: string | null };
}

describe('request limits, keys and what stays inside', () => {
  const key = 'sk-secret-key';
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    stage = await startGatewayStage({
      POLICY_API_KEY: 'engine-key',
      API_KEYS: `ann:${hash(key)},bob:${hash('sk-bob')}`,
      MAX_BODY_BYTES: String(6 * 1024 * 1024),
    });
    ({ engine, gateway, bus } = stage);
    await eventually(() => bus.bucket('openTurns'));
  });
  afterAll(() => stage.stop());
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
