import { AnswerRecorder } from './answer-recorder';
import { nextTurnIsServed, startFailureStage } from './testing/failure-stage';
import { answerOf, sendJson, type EngineCall, type FakeEngine } from './testing/fake-engine';
import { dataOf, startTestGateway, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import type { GatewayStage } from './testing/gateway-stage';

interface ErrorShape {
  error: { message: string; type: string; code: string; param: string | null };
}

describe('engine failures', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startFailureStage();
    ({ engine, gateway, bus } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('fine'));
  });
  afterEach(() => nextTurnIsServed(stage));

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
    const env = { NATS_URL: stage.nats.url, POLICY_BASE_URL: engine.url, POLICY_TIMEOUT_MS: '700' };
    const impatient = await startTestGateway(env);
    const response = await impatient.chat({ messages: userSays('x') });
    expect(response.status).toBe(504);
    expect((await failed(response)).code).toBe('engine-timeout');
    await impatient.stop();
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
    const patient = await startTestGateway({
      NATS_URL: stage.nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_RETRIES: '2',
    });
    const response = await patient.chat({ messages: userSays('endless') });
    expect([response.status, attempts]).toEqual([200, 2]);
    await engine.calls[0]!.aborted;
    await patient.stop();
  });

  it('a fault of the gateway’s own costs the capture, is counted, and the client has its answer', async () => {
    const recorder = gateway.service.app.get(AnswerRecorder);
    jest.spyOn(recorder, 'record').mockRejectedValueOnce(new Error('a fault'));
    const response = await gateway.chat({ messages: userSays('fault') });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('fine')]);
    expect(await gateway.metric('uncaptured_total', 'internal')).toBe(1);
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
