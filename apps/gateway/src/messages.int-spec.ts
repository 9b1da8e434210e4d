import { queries, type TurnStory } from '@hindcast/contracts';
import { answerOf, type FakeAnswer, type FakeEngine } from './testing/fake-engine';
import { eventually, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { readMessage } from './testing/message-events';
import { KEY, messageFrom, says, startMessageStage, tools, type MessageStage } from './testing/message-stage';

type Json = Record<string, unknown>;

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

describe('messages: Anthropic’s API', () => {
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
});
