import { createHash } from 'node:crypto';
import { queries, type TurnStory } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, sendJson, type FakeAnswer } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, type RunningGateway } from './testing/gateway-harness';
import { readMessage } from './testing/message-events';

type Json = Record<string, unknown>;

const KEY = 'sk-messages';
const keys = `ann:${createHash('sha256').update(KEY).digest('hex')}`;

/** Text, then two tool calls at once, token by token. */
const toolAnswer: FakeAnswer = {
  tokens: [
    { text: 'Hm', id: 10, logProb: -0.5, delta: { reasoning: 'Hm, 北京' } },
    { text: 'I look', id: 11, logProb: -0.25, delta: { content: 'I look — 北京.' } },
    {
      text: '<a>',
      id: 12,
      logProb: -0.125,
      delta: { toolCalls: [{ index: 0, id: 'call_a', name: 'read', arguments: '' }] },
    },
    { text: '{"p"', id: 13, logProb: -0.5, delta: { toolCalls: [{ index: 0, arguments: '{"p": ' }] } },
    { text: '1}', id: 14, logProb: -0.5, delta: { toolCalls: [{ index: 0, arguments: '1}' }] } },
    {
      text: '<b>',
      id: 15,
      logProb: -0.5,
      delta: { toolCalls: [{ index: 1, id: 'call_b', name: 'list', arguments: '{}' }] },
    },
    { text: '<end>', id: 16, logProb: -0.5, delta: null },
  ],
};
const toolMessage = {
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'Hm, 北京', signature: 'hindcast' },
    { type: 'text', text: 'I look — 北京.' },
    { type: 'tool_use', id: 'call_a', name: 'read', input: { p: 1 } },
    { type: 'tool_use', id: 'call_b', name: 'list', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 7 },
};
const tools = ['read', 'list'].map((name) => ({ name, description: name, input_schema: { type: 'object' } }));

describe('messages: Anthropic’s API', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      API_KEYS: keys,
      MAX_BODY_BYTES: '200000',
    });
    bus = await BusReader.connect(nats.url);
    await eventually(
      async () =>
        ((await (await fetch(`${gateway.url}/readyz`)).json()) as { degraded: string[] }).degraded.length === 0,
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
  });

  const send = (body: unknown, headers: Record<string, string> = {}, path = '/v1/messages'): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY, 'anthropic-version': '2023-06-01', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const ask = (fields: object, headers?: Record<string, string>): Promise<Response> =>
    send({ model: 'claude-x', max_tokens: 64, ...fields }, headers);
  const says = (content: unknown): object => ({ role: 'user', content });
  const messageFrom = async (response: Response): Promise<Json> =>
    response.headers.get('content-type')!.includes('event-stream')
      ? readMessage(await response.text()).message
      : ((await response.json()) as Json);

  it.each([{ stream: false }, { stream: true }])(
    'an answer is captured as the engine gave it, and its tool results pair it: $stream',
    async ({ stream }) => {
      const question = says(`list ${stream}`);
      engine.script = (call) => engine.answer(call, toolAnswer);
      const response = await ask({ messages: [question], tools, stream, system: 'be brief' });
      const turnId = response.headers.get('x-hindcast-turn-id')!;
      const message = await messageFrom(response);
      expect(message).toMatchObject({ id: `msg_${turnId.replaceAll('-', '')}`, model: 'seed', ...toolMessage });
      expect(engine.calls[0]!.body).toMatchObject({ max_tokens: 64, stream, return_token_ids: true });

      const captured = await bus.messageOf('turnCaptured', turnId);
      expect(captured.body).toMatchObject({ responseId: message['id'], untrainable: null, finishReason: 'tool_calls' });
      const { header, promptIds, responseIds, rolloutLogProbs } = (await bus.capture(turnId))!;
      expect([[...promptIds], [...responseIds]]).toEqual([[1, 2, 3], toolAnswer.tokens.map(({ id }) => id)]);
      expect([...rolloutLogProbs]).toEqual(toolAnswer.tokens.map(({ logProb }) => logProb));
      expect(header).toMatchObject({
        messages: [{ role: 'system', content: 'be brief' }, question],
        tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }, {}],
      });

      const results = ['call_a', 'call_b'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` }));
      await messageFrom(
        await ask({
          messages: [
            question,
            { role: 'assistant', content: message['content'] },
            says([...results, { type: 'text', text: 'so?' }]),
          ],
          tools,
          stream,
          system: 'be brief',
        }),
      );
      const { body } = await bus.messageOf('turnPaired', turnId);
      expect(body.nextState).toMatchObject([
        { role: 'tool', toolName: 'read', text: 'of call_a' },
        { role: 'tool', toolName: 'list', text: 'of call_b' },
        { role: 'user', text: 'so?' },
      ]);
    },
  );

  it('D44 every byte offset: a stream cut anywhere gives the same message', async () => {
    const call = { index: 0, id: 'a', name: 'read', arguments: '{"é":"京"}' };
    const answer: FakeAnswer = {
      id: 'x',
      tokens: [
        { text: '北', id: 1, logProb: -1 },
        { text: '<a>', id: 2, logProb: -1, delta: { toolCalls: [call] } },
      ],
    };
    let length = 0;
    engine.script = (call) => {
      length = Buffer.byteLength(engine.events(call, answer).join(''));
      const cut = String((call.body['messages'] as { content: string }[])[0]!.content);
      return engine.answerInPieces(call, answer, cut === 'all' ? Array.from({ length }, (_, at) => at) : [Number(cut)]);
    };
    const message = async (cut: string): Promise<Json> => {
      const body = { messages: [says(cut)], tools, stream: true };
      return { ...(await messageFrom(await ask(body, { 'x-turn-type': 'side' }))), id: 'any' };
    };
    const whole = await message('0');
    expect(whole['content']).toMatchObject([{ text: '北' }, { id: 'a', input: { é: '京' } }]);
    expect(await message('all')).toEqual(whole);
    const AT_ONCE = 16;
    for (let start = 1; start < length; start += AT_ONCE) {
      const cuts = Array.from({ length: Math.min(AT_ONCE, length - start) }, (_, index) => String(start + index));
      for (const cut of await Promise.all(cuts.map(message))) expect(cut).toEqual(whole);
    }
  }, 240_000);

  it('each token reaches the client before the engine sends the next', async () => {
    const confirmed: (() => void)[] = [];
    engine.script = async (call) => {
      engine.openStream(call);
      for (const [index, event] of engine.events(call, answerOf('one two three')).entries()) {
        if (index > 1 && index < 4) await new Promise<void>((resolve) => confirmed.push(resolve));
        call.response.write(event);
      }
      call.response.end();
    };
    const response = await ask({ messages: [says('count')], stream: true });
    let seen = '';
    for await (const bytes of response.body!) {
      seen += Buffer.from(bytes as Uint8Array).toString();
      const words = seen.match(/text_delta/g)?.length ?? 0;
      if (words >= 1 && words < 3) await eventually(async () => confirmed.length > 0);
      confirmed.shift()?.();
    }
    expect(readMessage(seen).message['content']).toMatchObject([{ text: 'one two three' }]);
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

  it('feedback and the story of a turn take the id that the client got', async () => {
    const responder = bus.raw.subscribe(queries.turn.subject, {
      callback: (_, message) => void message.respond(JSON.stringify({ found: false })),
    });
    const response = await ask({ messages: [says('rate me')] });
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    const { id } = (await response.json()) as { id: string };
    await bus.messageOf('turnCaptured', turnId);
    await bus.raw.flush();
    const get = await fetch(`${gateway.url}/v1/turns/${id}`, { headers: { 'x-api-key': KEY } });
    expect((await get.json()) as TurnStory).toMatchObject({ turnId, responseId: id, state: 'open' });
    const given = await send({ response_id: id, reward: 1 }, {}, '/v1/feedback');
    expect(await given.json()).toEqual({ turn_id: turnId, status: 'accepted' });
    expect(JSON.parse((await (await bus.bucket('feedback')).get(turnId))!.string())).toMatchObject({ reward: 1 });
    responder.unsubscribe();
  });

  it('a side request is answered and not captured; the fields stop here', async () => {
    const response = await ask({ messages: [says('aside')], stream: true, turn_type: 'side', session_id: 's1' });
    expect(response.headers.get('x-hindcast-turn-id')).toBeNull();
    const message = await messageFrom(response);
    expect(message).toMatchObject({ content: [{ text: 'Hello there' }], usage: { input_tokens: 3, output_tokens: 2 } });
    expect(String(message['id'])).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(Object.keys(engine.calls[0]!.body).sort()).toEqual([
      'max_tokens',
      'messages',
      'model',
      'stream',
      'stream_options',
    ]);
  });

  it('the client’s key and Anthropic’s headers never reach the engine', async () => {
    await (
      await ask({ messages: [says('x')] }, { 'anthropic-beta': 'tools-2024', authorization: `Bearer ${KEY}` })
    ).json();
    expect(engine.calls[0]!.rawHeaders).not.toMatch(/anthropic|api-key|sk-messages/i);
  });

  it('a stop sequence is named', async () => {
    engine.script = (call) => engine.answer(call, answerOf('until', { stopReason: 'END' }));
    const message = await messageFrom(await ask({ messages: [says('x')], stop_sequences: ['END'], stream: true }));
    expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    expect(engine.calls[0]!.body['stop']).toEqual(['END']);
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

  describe('count_tokens', () => {
    const count = (fields: object): Promise<Response> =>
      send({ model: 'claude-x', messages: [says('how long?')], ...fields }, {}, '/v1/messages/count_tokens');

    it('asks the engine’s tokenizer for the prompt of the conversation', async () => {
      engine.script = (call) => sendJson(call.response, 200, { count: 42, max_model_len: 4096, tokens: [1] });
      const response = await count({ system: 'be brief', tools });
      expect([response.status, await response.json()]).toEqual([200, { input_tokens: 42 }]);
      expect(engine.calls[0]).toMatchObject({
        path: '/tokenize',
        body: {
          model: 'seed',
          messages: [{ role: 'system', content: 'be brief' }, says('how long?')],
          tools: [{ type: 'function', function: { name: 'read' } }, {}],
          add_generation_prompt: true,
        },
      });
    });

    it.each([
      {
        why: 'a refusal',
        answer: { error: { message: 'too long', type: 'x', code: 400 } },
        status: 400,
        type: 'invalid_request_error',
      },
      { why: 'an answer without a count', answer: { tokens: [] }, status: 200, type: 'api_error' },
    ])('$why', async ({ answer, status, type }) => {
      engine.script = (call) => sendJson(call.response, status, answer);
      const response = await count({});
      expect(response.status).toBe(status === 200 ? 502 : status);
      expect(await response.json()).toMatchObject({ type: 'error', error: { type } });
    });

    it('says when a busy engine may be asked again', async () => {
      engine.script = (call) =>
        sendJson(call.response, 429, { error: { message: 'busy', type: 'x', code: 429 } }, { 'retry-after': '7' });
      const response = await count({});
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    });

    it('is refused where the engines cannot tell, and clients do not try again', async () => {
      const other = await startTestGateway({
        NATS_URL: nats.url,
        POLICY_BASE_URL: engine.url,
        POLICY_DIALECT: 'sglang',
      });
      try {
        const response = await fetch(`${other.url}/v1/messages/count_tokens`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: [says('x')] }),
        });
        expect([response.status, response.headers.get('x-should-retry')]).toEqual([501, 'false']);
        expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
      } finally {
        await other.stop();
      }
    });
  });
});
