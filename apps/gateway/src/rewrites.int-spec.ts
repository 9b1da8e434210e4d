import { type FakeEngine, sendJson, type EngineCall } from './testing/fake-engine';
import { type BusReader, userSays, type RunningGateway } from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

type Message = Record<string, unknown>;

const CALLS = [
  { id: 'call_a', type: 'function', function: { name: 'read', arguments: '{"path":"a.txt","lines":[1,2]}' } },
  { id: 'call_b', type: 'function', function: { name: 'list', arguments: '' } },
];
const RESULTS: Message[] = [
  { role: 'tool', tool_call_id: 'call_a', content: 'text of a' },
  { role: 'tool', tool_call_id: 'call_b', content: '[]' },
];
const TEXT: Message = { role: 'assistant', content: 'The answer is 4.' };
const TOOLS: Message = { role: 'assistant', content: null, tool_calls: CALLS };
const withArguments = (argument: unknown): Message => ({
  ...TOOLS,
  tool_calls: CALLS.map((call, index) =>
    index === 0 ? { ...call, function: { ...call.function, arguments: argument } } : call,
  ),
});
const renamed = (id: string | undefined): Message => ({
  ...TOOLS,
  tool_calls: CALLS.map((call) => ({ ...call, id: id && `${id}${call.id}` })),
});

/** What the engine said, what its client sends back instead, and what follows. */
const rewrites: { why: string; said: Message; sentBack: Message; next?: Message[] }[] = [
  { why: 'nothing', said: TEXT, sentBack: TEXT },
  {
    why: 'thinking in the text stripped',
    said: { ...TEXT, content: `<think>2 and 2\nis 4</think>\n\n${String(TEXT['content'])}` },
    sentBack: TEXT,
  },
  {
    why: 'thinking that the template had begun, stripped',
    said: { ...TEXT, content: `2 and 2 is 4</think>${String(TEXT['content'])}` },
    sentBack: TEXT,
  },
  { why: 'reasoning_content dropped', said: { ...TEXT, reasoning_content: '2 and 2' }, sentBack: TEXT },
  { why: 'reasoning dropped', said: { ...TEXT, reasoning: '2 and 2' }, sentBack: TEXT },
  {
    why: 'thinking moved into a part',
    said: { ...TEXT, reasoning_content: '2 and 2' },
    sentBack: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '2 and 2' },
        { type: 'text', text: TEXT['content'] },
      ],
    },
  },
  { why: 'outer white space trimmed', said: { ...TEXT, content: '\n The answer is 4. \n' }, sentBack: TEXT },
  {
    why: 'content as parts',
    said: TEXT,
    sentBack: { role: 'assistant', content: [{ type: 'text', text: TEXT['content'] }] },
  },
  {
    why: 'refusal, annotations, audio null dropped',
    said: { ...TEXT, refusal: null, annotations: [], audio: null, function_call: null, tool_calls: [] },
    sentBack: TEXT,
  },
  {
    why: 'a refusal sent back as a part',
    said: { role: 'assistant', content: null, refusal: 'I cannot.' },
    sentBack: { role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] },
  },
  { why: 'tool calls as they were', said: TOOLS, sentBack: TOOLS, next: RESULTS },
  { why: "content '' beside tool calls", said: TOOLS, sentBack: { ...TOOLS, content: '' }, next: RESULTS },
  {
    why: 'content left out beside tool calls',
    said: TOOLS,
    sentBack: { role: 'assistant', tool_calls: CALLS },
    next: RESULTS,
  },
  { why: "content null for ''", said: { ...TOOLS, content: '' }, sentBack: TOOLS, next: RESULTS },
  {
    why: 'keys of tool arguments re-ordered and re-spaced',
    said: TOOLS,
    sentBack: withArguments('{ "lines": [1, 2.0],\n "path": "a.txt" }'),
    next: RESULTS,
  },
  {
    why: 'tool arguments as an object',
    said: TOOLS,
    sentBack: withArguments({ lines: [1, 2], path: 'a.txt' }),
    next: RESULTS,
  },
  {
    why: 'tool arguments that are no JSON, trimmed',
    said: withArguments('{"path": '),
    sentBack: withArguments('{"path":'),
    next: RESULTS,
  },
  {
    why: 'tool-call ids rewritten',
    said: TOOLS,
    sentBack: renamed('x'),
    next: RESULTS.map((result) => ({ ...result, tool_call_id: `x${String(result['tool_call_id'])}` })),
  },
  {
    why: 'tool-call ids dropped',
    said: TOOLS,
    sentBack: renamed(undefined),
    next: RESULTS.map(({ role, content }) => ({ role, content })),
  },
  {
    why: 'results in another order, then the user',
    said: TOOLS,
    sentBack: TOOLS,
    next: [...RESULTS].reverse().concat({ role: 'user', content: 'and?' }),
  },
];

describe('clients that rewrite the history', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage();
    ({ engine, gateway, bus } = stage);
  });
  afterAll(() => stage.stop());

  /** A whole answer with this message. */
  const says = (call: EngineCall, message: Message): void =>
    sendJson(call.response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: call.body['model'],
      choices: [
        {
          index: 0,
          message,
          token_ids: [5, 6],
          logprobs: { content: [{ logprob: -1 }, { logprob: -2 }] },
          finish_reason: message['tool_calls'] ? 'tool_calls' : 'stop',
        },
      ],
      prompt_token_ids: [1, 2, 3],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
  const ask = async (messages: object[], said: Message = TEXT): Promise<string> => {
    engine.script = (call) => says(call, said);
    const response = await gateway.chat({ messages });
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('x-hindcast-turn-id')!;
  };

  it.each(rewrites)('$why: the turn is paired with all that follows', async ({ why, said, sentBack, next }) => {
    const following = next ?? [{ role: 'user', content: 'and?' }];
    const turnId = await ask(userSays(why), said);
    await ask([...userSays(why), sentBack, ...following]);
    const { nextState } = (await bus.messageOf('turnPaired', turnId)).body;
    expect(nextState.map(({ role, text }) => [role, text])).toEqual(
      following.map(({ role, content }) => [role, content]),
    );
    const tools = nextState.filter(({ role }) => role === 'tool').map(({ text, toolName }) => [text, toolName]);
    if (next) expect(Object.fromEntries(tools)).toEqual({ 'text of a': 'read', '[]': 'list' });
  });

  it.each([
    { why: 'another text', sentBack: { ...TEXT, content: 'The answer is 5.' } },
    { why: 'other inner white space', sentBack: { ...TEXT, content: 'The answer  is 4.' } },
    { why: 'tool calls more', sentBack: { ...TEXT, tool_calls: CALLS } },
    { why: 'another role', sentBack: { role: 'user', content: TEXT['content'] } },
  ])('$why is another conversation: nothing is paired', async ({ why, sentBack }) => {
    const turnId = await ask(userSays(why));
    await ask([...userSays(why), sentBack, { role: 'user', content: 'and?' }]);
    // A later pair shows that the earlier one would have come.
    const marker = await ask(userSays(`${why}, then`));
    await ask([...userSays(`${why}, then`), TEXT, { role: 'user', content: 'and?' }]);
    await bus.messageOf('turnPaired', marker);
    expect((await bus.messages('turnPaired')).map((message) => message.turnId)).not.toContain(turnId);
  });
});
