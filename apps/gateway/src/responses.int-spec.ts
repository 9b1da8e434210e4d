import { createHash } from 'node:crypto';
import { queries } from '@hindcast/contracts';
import OpenAI from 'openai';
import type { Response as ModelResponse, ResponseInputItem } from 'openai/resources/responses/responses';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, type EngineCall, type FakeAnswer } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, type RunningGateway } from './testing/gateway-harness';

type Json = Record<string, unknown>;

const tools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false, description: 'Reads a file' },
];

/** Reasoning, a text and two calls whose arguments come interleaved. */
const toolAnswer: FakeAnswer = {
  tokens: [
    { text: 'Hm.', id: 100, logProb: -0.5, delta: { reasoning: 'Hm.' } },
    { text: 'Let me see.', id: 101, logProb: -0.25 },
    { text: '<a', id: 102, logProb: -1, delta: { toolCalls: [{ index: 0, id: 'call_a', name: 'read' }] } },
    { text: '<b', id: 103, logProb: -1.5, delta: { toolCalls: [{ index: 1, id: 'call_b', name: 'read' }] } },
    { text: '{', id: 104, logProb: -0.125, delta: { toolCalls: [{ index: 0, arguments: '{ "path":' }] } },
    { text: '{', id: 105, logProb: -0.125, delta: { toolCalls: [{ index: 1, arguments: '{"path": "b"' }] } },
    { text: '}', id: 106, logProb: -2, delta: { toolCalls: [{ index: 0, arguments: '"a"}' }] } },
    { text: '}', id: 107, logProb: -3, delta: { toolCalls: [{ index: 1, arguments: '}' }] } },
  ],
  promptIds: [7, 8, 9],
};

describe.each(['vllm', 'sglang'] as const)('responses: %s', (dialect) => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let client: OpenAI;
  let ledger: { unsubscribe(): void };

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start(dialect);
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
    bus = await BusReader.connect(nats.url);
    client = new OpenAI({ apiKey: 'none', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await eventually(
      async () =>
        ((await (await fetch(`${gateway.url}/readyz`)).json()) as { degraded: string[] }).degraded.length === 0,
    );
    // A ledger that knows nothing yet.
    ledger = bus.raw.subscribe(queries.turn.subject, {
      callback: (_, message) => void message.respond(JSON.stringify({ found: false })),
    });
    await bus.raw.flush();
  });
  afterAll(async () => {
    ledger.unsubscribe();
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
  });

  const turnOf = ({ id }: { id: string }): string =>
    id.slice('resp_'.length).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  /** One response, streamed or whole, through OpenAI's client. */
  const ask = async (
    body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
    isStreamed = false,
  ): Promise<ModelResponse> =>
    isStreamed ? client.responses.stream(body as never).finalResponse() : client.responses.create(body);
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  it.each([true, false])('is captured with the engine’s ids (streamed: %s)', async (isStreamed) => {
    engine.script = (call) => engine.answer(call, toolAnswer);
    const response = await ask(
      { model: 'any', instructions: 'Be brief', input: `Look ${isStreamed}`, tools },
      isStreamed,
    );
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'seed',
      output_text: 'Let me see.',
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Let me see.', logprobs: [] }] },
        { type: 'function_call', call_id: 'call_a', name: 'read', arguments: '{ "path":"a"}' },
        { type: 'function_call', call_id: 'call_b', name: 'read', arguments: '{"path": "b"}' },
      ],
      usage: { input_tokens: 3, output_tokens: 8, total_tokens: 11 },
    });
    const { body } = await bus.messageOf('turnCaptured', turnOf(response));
    expect(body).toMatchObject({ responseId: response.id, promptTokens: 3, completionTokens: 8, untrainable: null });
    const capture = (await bus.capture(turnOf(response)))!;
    expect([...capture.promptIds]).toEqual([7, 8, 9]);
    expect([...capture.responseIds]).toEqual([100, 101, 102, 103, 104, 105, 106, 107]);
    expect([...capture.rolloutLogProbs]).toEqual([-0.5, -0.25, -1, -1.5, -0.125, -0.125, -2, -3]);
    expect(capture.header.messages).toEqual([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: `Look ${isStreamed}` },
    ]);
    expect(capture.header.tools).toMatchObject([{ type: 'function', function: { name: 'read' } }]);
  });

  it.each([true, false])('the results of its tools pair it, without any header (streamed: %s)', async (isStreamed) => {
    engine.script = (call) => engine.answer(call, toolAnswer);
    const input: ResponseInputItem[] = [{ role: 'user', content: `Compare ${isStreamed}` }];
    const first = await ask({ input, tools }, isStreamed);
    engine.script = (call) => engine.answer(call, answerOf('They differ.'));
    input.push(...(first.output as ResponseInputItem[]));
    for (const [id, output] of [
      ['call_a', 'one'],
      ['call_b', 'two'],
    ] as const)
      input.push({ type: 'function_call_output', call_id: id, output });
    const second = await ask({ input, tools }, isStreamed);
    const { body } = await bus.messageOf('turnPaired', turnOf(first));
    expect(body.nextState).toEqual([
      { role: 'tool', text: 'one', toolName: 'read' },
      { role: 'tool', text: 'two', toolName: 'read' },
    ]);
    input.push(...(second.output as ResponseInputItem[]), { role: 'user', content: 'Thanks.' });
    await ask({ input, tools }, !isStreamed);
    expect((await bus.messageOf('turnPaired', turnOf(second))).body).toMatchObject({
      answer: 'They differ.',
      nextState: [{ role: 'user', text: 'Thanks.' }],
    });
  });

  it.each([true, false])(
    'previous_response_id goes on from the captured answer and pairs it (streamed: %s)',
    async (isStreamed) => {
      engine.script = (call) => engine.answer(call, toolAnswer);
      const first = await ask({ instructions: 'Be brief', input: `Chain ${isStreamed}`, tools }, isStreamed);
      engine.script = (call) => engine.answer(call, answerOf('Done.'));
      const input: ResponseInputItem[] = ['call_a', 'call_b'].map((id) => ({
        type: 'function_call_output',
        call_id: id,
        output: id,
      }));
      const second = await ask({ previous_response_id: first.id, input, tools }, isStreamed);
      expect(second.previous_response_id).toBe(first.id);
      expect(engine.calls[1]!.body['messages']).toMatchObject([
        { role: 'user', content: `Chain ${isStreamed}` },
        { role: 'assistant', content: 'Let me see.', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
        { role: 'tool', tool_call_id: 'call_a' },
        { role: 'tool', tool_call_id: 'call_b' },
      ]);
      const third = await ask(
        { previous_response_id: second.id, instructions: 'Be kind', input: 'And now?' },
        isStreamed,
      );
      expect(engine.calls[2]!.body['messages']).toMatchObject([
        { role: 'system', content: 'Be kind' },
        ...(engine.calls[1]!.body['messages'] as object[]),
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'And now?' },
      ]);
      expect((await bus.messageOf('turnPaired', turnOf(first))).body.nextState).toHaveLength(2);
      expect((await bus.messageOf('turnPaired', turnOf(second))).body.nextState).toMatchObject([{ text: 'And now?' }]);
      expect(third.output).toMatchObject((await client.responses.retrieve(third.id)).output);
    },
  );

  it('items by reference are looked up', async () => {
    const first = await ask({ input: 'Refer' });
    await ask({
      input: [
        { role: 'user', content: 'Refer' },
        { type: 'item_reference', id: first.output[0]!.id! },
        { role: 'user', content: 'Go on.' },
      ],
    });
    expect((await bus.messageOf('turnPaired', turnOf(first))).body.nextState).toMatchObject([{ text: 'Go on.' }]);
  });

  it('what was not captured cannot be gone on from, and says so as OpenAI does', async () => {
    const side = await post({ input: 'aside' }, { 'x-turn-type': 'side' });
    expect(side.headers.get('x-hindcast-turn-id')).toBeNull();
    const { id } = (await side.json()) as { id: string };
    expect(id).toMatch(/^resp_[0-9a-f]{32}$/);
    await expect(client.responses.create({ input: 'x', previous_response_id: id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      type: 'invalid_request_error',
    });
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404, param: 'id' });
    expect(engine.calls).toHaveLength(1);
  });

  it('another tenant’s response does not exist', async () => {
    const API_KEYS = ['ann', 'bob']
      .map((name) => `${name}:${createHash('sha256').update(`sk-${name}`).digest('hex')}`)
      .join(',');
    const shared = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, API_KEYS });
    try {
      const [ann, bob] = ['sk-ann', 'sk-bob'].map(
        (apiKey) => new OpenAI({ apiKey, baseURL: `${shared.url}/v1`, maxRetries: 0 }),
      );
      const { id } = await ann!.responses.create({ input: 'mine' });
      await expect(bob!.responses.create({ input: 'x', previous_response_id: id })).rejects.toMatchObject({
        code: 'previous_response_not_found',
      });
      await expect(bob!.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
      expect((await ann!.responses.create({ input: 'x', previous_response_id: id })).status).toBe('completed');
    } finally {
      await shared.stop();
    }
  });

  it('feedback and the story of the turn by the response’s id', async () => {
    const response = await ask({ input: 'Say something' });
    const turnId = turnOf(response);
    const story = await fetch(`${gateway.url}/v1/turns/${response.id}`);
    expect(await story.json()).toMatchObject({ turnId, responseId: response.id, state: 'open' });
    const feedback = await fetch(`${gateway.url}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_id: response.id, reward: 1 }),
    });
    expect(await feedback.json()).toEqual({ turn_id: turnId, status: 'accepted' });
    expect((await bus.messageOf('turnPaired', turnId)).body.nextState).toEqual([]);
  });

  it('what belongs to Hindcast in the body counts as in chat, and does not reach the engine', async () => {
    await (await post({ input: 'aside', turn_type: 'side', session_id: 'raw', metadata: { a: 'b' } })).text();
    expect(engine.calls[0]!.body).toEqual({ model: 'seed', messages: [{ role: 'user', content: 'aside' }] });
  });

  it('refusals have OpenAI’s shape and do not reach the engine', async () => {
    for (const body of [{ input: 'x', tools: [{ type: 'web_search' }] }, { input: 'x', background: true }, {}, [], 5]) {
      const response = await post(body);
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: Json };
      expect(error).toMatchObject({ type: 'invalid_request_error' });
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
    }
    expect(engine.calls).toHaveLength(0);
  });

  it.each(['before', 'after'])(
    'D40 an engine that fails %s its first event, without a word, is told by its status',
    async (when) => {
      engine.script = (call) => {
        engine.openStream(call);
        if (when === 'after') call.response.write(engine.events(call, answerOf('never'))[0]);
        call.response.end('data: {"error":{"message":"overloaded","type":"ServiceUnavailable","code":503}}\n\n');
      };
      const response = await post({ input: 'fail', stream: true });
      expect(response.status).toBe(503);
      expect(((await response.json()) as { error: Json }).error).toMatchObject({ message: 'overloaded' });
    },
  );

  describe('D41 an engine whose connection is cut', () => {
    const cutAfter =
      (events: number) =>
      (call: EngineCall): void => {
        engine.openStream(call);
        const sent = engine.events(call, answerOf('one two three')).slice(0, events).join('');
        if (sent === '') call.response.destroy();
        else call.response.write(sent, () => call.response.destroy());
      };

    it.each([
      { stream: false, events: 0 },
      { stream: true, events: 0 },
      { stream: true, events: 1 },
    ])('before the first word: a 502 that clients try again ($stream, $events events)', async ({ stream, events }) => {
      engine.script = (call) => (stream ? cutAfter(events)(call) : call.response.destroy());
      await expect(client.responses.create({ input: 'cut', stream })).rejects.toMatchObject({
        status: 502,
        type: 'server_error',
      });
      const calls = engine.calls.length;
      engine.script = (call) =>
        engine.calls.length === calls + 1 ? call.response.destroy() : engine.answer(call, answerOf('Back'));
      const again = await client.responses.create({ input: 'cut again' }, { maxRetries: 2 });
      expect(again.output_text).toBe('Back');
    });

    it('after it: an error and response.failed, and OpenAI’s client throws', async () => {
      engine.script = cutAfter(3);
      const response = await post({ input: 'cut in the middle', stream: true });
      expect(response.status).toBe(200);
      const events = (await response.text())
        .split('\n\n')
        .filter(Boolean)
        .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as Json);
      expect(events.slice(-2)).toMatchObject([
        { type: 'error', code: 'engine-stream-broken', error: { type: 'server_error' } },
        { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' }, output: [] } },
      ]);
      const turnId = response.headers.get('x-hindcast-turn-id')!;
      expect((await bus.messageOf('turnClosed', turnId)).body).toMatchObject({ reason: 'failed' });
      await expect(ask({ input: 'cut once more' }, true)).rejects.toBeInstanceOf(OpenAI.APIError);
    });
  });

  it('each event reaches the client before the engine sends the next', async () => {
    let confirm: () => void = () => undefined;
    engine.script = async (call) => {
      engine.openStream(call);
      for (const event of engine.events(call, answerOf('one two three'))) {
        const confirmed = new Promise<void>((resolve) => (confirm = resolve));
        call.response.write(event);
        if (event.includes('"content":"') && !event.includes('"content":""') && event.includes('"finish_reason":null'))
          await confirmed;
      }
      call.response.end();
    };
    const deltas: string[] = [];
    for await (const event of await client.responses.create({ input: 'count', stream: true })) {
      if (event.type !== 'response.output_text.delta') continue;
      deltas.push(event.delta);
      confirm();
    }
    expect(deltas).toEqual(['one', ' two', ' three']);
  });
});
