import { answerOf, type FakeEngine } from './testing/fake-engine';
import { eventually, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { KEY, says, startMessageStage, type MessageStage } from './testing/message-stage';

type Json = Record<string, unknown>;

describe('messages that fail', () => {
  let stage: MessageStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let send: MessageStage['send'];
  let ask: MessageStage['ask'];

  beforeAll(async () => {
    stage = await startMessageStage();
    ({ engine, gateway, bus, send, ask } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
  });

  describe('D40 an engine that fails before the first token', () => {
    it.each([{ stream: false }, { stream: true }])(
      'its status and Retry-After come through: $stream',
      async ({ stream }) => {
        engine.script = (call) => engine.refuse(call, 429, 'slow down', { 'retry-after': '7' });
        const response = await ask({ messages: [says('a')], stream });
        expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
        expect(await response.json()).toMatchObject({
          type: 'error',
          error: { type: 'rate_limit_error', message: 'slow down' },
        });
      },
    );

    const broken = { error: { message: 'no room', type: 'x', code: 503 } };
    it.each([
      { why: 'an error instead of an answer', events: 0, then: broken, status: 503, type: 'overloaded_error' },
      { why: 'an error after the role', events: 1, then: broken, status: 503, type: 'overloaded_error' },
      { why: 'the end after the role', events: 1, then: null, status: 502, type: 'api_error' },
    ])('$why', async ({ events, then, status, type }) => {
      engine.script = (call) => {
        engine.openStream(call);
        for (const event of engine.events(call, answerOf('never')).slice(0, events)) call.response.write(event);
        if (then) call.response.write(`data: ${JSON.stringify(then)}\n\n`);
        call.response.end();
      };
      const response = await ask({ messages: [says('b')], stream: true });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
      expect(await response.json()).toMatchObject({ type: 'error', error: { type } });
    });

    it('a connection that is cut', async () => {
      engine.script = (call) => {
        engine.openStream(call);
        call.response.write(engine.events(call, answerOf('never'))[0]);
        setImmediate(() => call.response.destroy());
      };
      const response = await ask({ messages: [says('c')], stream: true });
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({ error: { details: { error_code: 'engine-stream-broken' } } });
    });
  });

  it('a stream that breaks later ends with an error event, and its turn is failed', async () => {
    engine.script = (call) => {
      engine.openStream(call);
      for (const event of engine.events(call, answerOf('one two three')).slice(0, 3)) call.response.write(event);
      engine.breakOff(call, 500, 'out of memory');
    };
    const response = await ask({ messages: [says('d')], stream: true });
    const last = (await response.text()).trimEnd().split('\n\n').at(-1)!.split('\n');
    expect(last[0]).toBe('event: error');
    expect(JSON.parse(last[1]!.slice(6))).toMatchObject({
      type: 'error',
      error: { type: 'api_error', message: 'out of memory' },
    });
    const closed = await bus.messageOf('turnClosed', response.headers.get('x-hindcast-turn-id')!);
    expect(closed.body.reason).toBe('failed');
  });

  it('a whole answer that the engine gave up is a 502, and its turn is failed', async () => {
    engine.script = (call) => engine.answer(call, answerOf('so far', { finishReason: 'abort' }));
    const known = new Set((await bus.messages('turnCaptured')).map(({ turnId }) => turnId));
    const response = await ask({ messages: [says('give up')] });
    expect(response.status).toBe(502);
    const failed = await eventually(async () =>
      (await bus.messages('turnCaptured')).find(({ turnId }) => !known.has(turnId)),
    );
    expect((await bus.messageOf('turnClosed', failed.turnId!)).body.reason).toBe('failed');
  });

  describe('errors have Anthropic’s shape', () => {
    const big = JSON.stringify({ max_tokens: 1, messages: [says('x'.repeat(300_000))] });
    it.each([
      { why: 'no key', body: {}, headers: { 'x-api-key': '' }, status: 401, type: 'authentication_error' },
      { why: 'a wrong key', body: {}, headers: { 'x-api-key': 'sk-no' }, status: 401, type: 'authentication_error' },
      { why: 'no JSON', body: '{"messages":', headers: {}, status: 400, type: 'invalid_request_error' },
      {
        why: 'another type',
        body: 'a',
        headers: { 'content-type': 'text/csv' },
        status: 415,
        type: 'invalid_request_error',
      },
      { why: 'a body that is too large', body: big, headers: {}, status: 413, type: 'request_too_large' },
      { why: 'no messages', body: { max_tokens: 1 }, headers: {}, status: 400, type: 'invalid_request_error' },
      {
        why: 'a route that is not there',
        body: {},
        headers: {},
        path: '/v1/messages/batches',
        status: 404,
        type: 'not_found_error',
      },
      {
        why: 'an empty count',
        body: {},
        headers: {},
        path: '/v1/messages/count_tokens',
        status: 400,
        type: 'invalid_request_error',
      },
    ])('$why', async ({ body, headers, path, status, type }) => {
      const response = await send(body, headers as Record<string, string>, path);
      expect(response.status).toBe(status);
      const error = (await response.json()) as { type: string; error: Json };
      expect([error.type, error.error['type']]).toEqual(['error', type]);
      expect(error.error['message']).toEqual(expect.any(String));
    });

    it('other paths keep OpenAI’s', async () => {
      const response = await send({}, {}, '/v1/chat/completions');
      expect(await response.json()).toMatchObject({ error: { code: 'invalid-request', param: 'messages' } });
      const models = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': KEY } });
      expect(await models.json()).toMatchObject({ object: 'list', data: [{ id: 'seed' }] });
    });
  });
});
