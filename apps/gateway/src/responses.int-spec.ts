import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { answerOf, type FakeAnswer, type FakeEngine } from './testing/fake-engine';
import { startTestGateway, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { keyOf } from './testing/keys';
import { startResponseStage, turnOf, type ResponseStage } from './testing/response-stage';

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
  let stage: ResponseStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let client: OpenAI;
  let ask: ResponseStage['ask'];
  let post: ResponseStage['post'];

  beforeAll(async () => {
    stage = await startResponseStage(dialect);
    ({ engine, gateway, bus, client, ask, post } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
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
    const API_KEYS = ['ann', 'bob'].map((name) => keyOf(name, `sk-${name}`)).join(',');
    const shared = await startTestGateway({ NATS_URL: stage.nats.url, POLICY_BASE_URL: engine.url, API_KEYS });
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
