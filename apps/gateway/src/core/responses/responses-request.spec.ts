import type { PastAnswer } from './conversation-input';
import { RequestRefusal } from './request-refusal';
import { itemId, responseId, turnOfItem, turnOfResponse } from './response-ids';
import { chatBody, namedTurns } from './responses-request';

type Json = Record<string, unknown>;

const TURN = '0f8fad5b-d9cb-469f-a165-70867728950e';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const none: ReadonlyMap<string, PastAnswer> = new Map();
const user = (content: unknown): Json => ({ role: 'user', content });
const call = (id: string, name = 'read', written = '{}'): Json => ({
  id,
  type: 'function',
  function: { name, arguments: written },
});
const functionCall = (callId: string, extra: Json = {}): Json => ({
  type: 'function_call',
  call_id: callId,
  name: 'read',
  arguments: '{}',
  ...extra,
});
const said = (text: string, extra: Json = {}): Json => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...extra,
});
const output = (callId: string, value: unknown = 'done'): Json => ({
  type: 'function_call_output',
  call_id: callId,
  output: value,
});
const result = (callId: string, content: unknown = 'done'): Json => ({ role: 'tool', tool_call_id: callId, content });
const assistant = (content: string | null, extra: Json = {}): Json => ({ role: 'assistant', content, ...extra });
const thought = (text: string): Json => ({ reasoning_content: text, reasoning: text });

describe('ids', () => {
  it('lead back to the turn', () => {
    expect(turnOfResponse(responseId(TURN))).toBe(TURN);
    for (const kind of ['msg', 'rs', 'fc', 'ctc'] as const) expect(turnOfItem(itemId(kind, TURN, 12))).toBe(TURN);
  });
  it.each(['resp_', 'resp_XYZ', 'chatcmpl-1', `msg_${'a'.repeat(32)}`, '', null, 5, `resp_${'a'.repeat(33)}`])(
    '%j is none of ours',
    (id) => {
      expect(turnOfResponse(id)).toBeNull();
      expect(turnOfItem(id)).toBeNull();
    },
  );
});

describe('messages', () => {
  it.each([
    { why: 'a text', input: 'Hi', messages: [user('Hi')] },
    { why: 'a message without type', input: [user('Hi')], messages: [user('Hi')] },
    { why: 'one text part is a text', input: [user([{ type: 'input_text', text: 'Hi' }])], messages: [user('Hi')] },
    {
      why: 'image and file parts',
      input: [
        user([
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ]),
      ],
      messages: [
        user([
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ]),
      ],
    },
    {
      why: 'a system message stays parts, so that it is never taken for instructions',
      input: [{ role: 'system', content: 'Be kind' }, { role: 'developer', content: 'Be brief' }, user('Hi')],
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be kind' }] },
        { role: 'developer', content: 'Be brief' },
        user('Hi'),
      ],
    },
    {
      why: 'text and several calls are one answer',
      input: [user('Hi'), said('Let me see.'), functionCall('a'), functionCall('b'), output('a'), output('b')],
      messages: [
        user('Hi'),
        assistant('Let me see.', { tool_calls: [call('a'), call('b')] }),
        result('a'),
        result('b'),
      ],
    },
    {
      why: 'reasoning goes with what it led to',
      input: [
        user('Hi'),
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        functionCall('a'),
        output('a'),
      ],
      messages: [user('Hi'), assistant(null, { ...thought('Hm.'), tool_calls: [call('a')] }), result('a')],
    },
    {
      why: 'a summary stands for reasoning that was not given; an encrypted one says nothing',
      input: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        said('A'),
        user('more'),
        { type: 'reasoning', summary: [], encrypted_content: 'xyz' },
        said('B'),
        user('?'),
      ],
      messages: [assistant('A', thought('Hm.')), user('more'), assistant('B'), user('?')],
    },
    {
      why: 'two answers in a row stay two, even without ids',
      input: [user('Hi'), said('A'), said('B'), user('?')],
      messages: [user('Hi'), assistant('A'), assistant('B'), user('?')],
    },
    {
      why: 'two answers in a row stay two by their ids, where order would make them one',
      input: [
        said('A', { id: itemId('msg', TURN, 0) }),
        functionCall('a', { id: itemId('fc', OTHER, 0) }),
        output('a'),
      ],
      messages: [assistant('A'), assistant(null, { tool_calls: [call('a')] }), result('a')],
    },
    {
      why: 'parallel calls that a client put beside their results are one answer by their ids',
      input: [
        functionCall('a', { id: itemId('fc', TURN, 0) }),
        output('a'),
        functionCall('b', { id: itemId('fc', TURN, 1) }),
        output('b'),
      ],
      messages: [assistant(null, { tool_calls: [call('a'), call('b')] }), result('a'), result('b')],
    },
    {
      why: 'text that came after a call is of the same answer',
      input: [functionCall('a'), said('Wait.'), output('a')],
      messages: [assistant('Wait.', { tool_calls: [call('a')] }), result('a')],
    },
    {
      why: 'a refusal',
      input: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, user('Why?')],
      messages: [assistant(null, { refusal: 'No.' }), user('Why?')],
    },
    {
      why: 'an easy assistant message',
      input: [{ role: 'assistant', content: 'A' }, user('?')],
      messages: [assistant('A'), user('?')],
    },
    {
      why: 'a result in parts',
      input: [functionCall('a'), output('a', [{ type: 'input_text', text: 'x' }])],
      messages: [assistant(null, { tool_calls: [call('a')] }), result('a', 'x')],
    },
    {
      why: 'a custom tool call is a call with one text',
      input: [
        { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'one\n"two"' },
        { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
      ],
      messages: [
        assistant(null, { tool_calls: [call('a', 'patch', '{"input":"one\\n\\"two\\""}')] }),
        result('a', 'ok'),
      ],
    },
  ])('$why', ({ input, messages }) => expect(chatBody({ input }, none)['messages']).toEqual(messages));

  it('instructions are a system message in front', () =>
    expect(chatBody({ instructions: 'Be kind', input: 'Hi' }, none)['messages']).toEqual([
      { role: 'system', content: 'Be kind' },
      user('Hi'),
    ]));
});

describe('earlier answers', () => {
  const answer = { role: 'assistant', content: 'A', reasoning: 'Hm.', tool_calls: [call('a'), call('')] };
  const past = new Map([[TURN, { messages: [{ role: 'system', content: 'old' }, user('Hi')], answer }]]);
  const message = {
    ...assistant('A', thought('Hm.')),
    tool_calls: [call('a'), call(`call_${TURN.replaceAll('-', '')}_1`)],
  };
  const previous = responseId(TURN);

  it('previous_response_id: its conversation without its instructions, its answer, then the new input', () =>
    expect(
      chatBody({ previous_response_id: previous, instructions: 'new', input: [output('a')] }, past)['messages'],
    ).toEqual([{ role: 'system', content: 'new' }, user('Hi'), message, result('a')]));

  it('a system message that was no instruction stays', () => {
    const kept = { role: 'system', content: [{ type: 'text', text: 'kept' }] };
    const known = new Map([[TURN, { messages: [kept, user('Hi')], answer: assistant('A') }]]);
    expect(chatBody({ previous_response_id: previous, input: 'more' }, known)['messages']).toEqual([
      kept,
      user('Hi'),
      assistant('A'),
      user('more'),
    ]);
  });

  it('what a client repeats of the previous response is not said twice', () =>
    expect(
      chatBody(
        { previous_response_id: previous, input: [functionCall('a', { id: itemId('fc', TURN, 0) }), output('a')] },
        past,
      )['messages'],
    ).toEqual([user('Hi'), message, result('a')]));

  it('item references are looked up', () =>
    expect(
      chatBody(
        {
          input: [
            user('Hi'),
            { type: 'item_reference', id: itemId('rs', TURN, 0) },
            { id: itemId('msg', TURN, 0) },
            { type: 'item_reference', id: itemId('fc', TURN, 0) },
            { type: 'item_reference', id: itemId('fc', TURN, 1) },
            output('a'),
          ],
        },
        past,
      )['messages'],
    ).toEqual([user('Hi'), message, result('a')]));

  it('names the turns that it needs', () =>
    expect(
      namedTurns({
        previous_response_id: previous,
        input: [{ type: 'item_reference', id: itemId('msg', OTHER, 0) }, user('x'), 5, { id: itemId('fc', TURN, 0) }],
      }),
    ).toEqual([TURN, OTHER]));
  it.each([null, 5, [], {}, { input: 'x' }, { previous_response_id: 'resp_1', input: [{}] }])('%j names none', (body) =>
    expect(namedTurns(body)).toEqual([]),
  );
});

describe('fields', () => {
  const tool = { type: 'function', name: 'read', parameters: { type: 'object' }, strict: true, description: 'Reads' };
  const nested = {
    type: 'function',
    function: { name: 'read', description: 'Reads', parameters: { type: 'object' }, strict: true },
  };
  const other = { type: 'function', name: 'write', parameters: null, strict: null };
  it.each<{ why: string; body: Json; chat: Json }>([
    {
      why: 'what engines know goes on as it is',
      body: { model: 'm', temperature: 0.5, top_p: 0.9, user: 'u', seed: 7, top_k: 5, stop: ['x'], session_id: 's' },
      chat: { model: 'm', temperature: 0.5, top_p: 0.9, user: 'u', seed: 7, top_k: 5, stop: ['x'], session_id: 's' },
    },
    {
      why: 'what says nothing to an engine stays here',
      body: {
        store: false,
        metadata: { a: 'b' },
        truncation: 'auto',
        include: ['reasoning.encrypted_content'],
        background: false,
        max_tool_calls: 3,
        context_management: [{ type: 'compaction' }],
        stream_options: { include_obfuscation: false },
      },
      chat: {},
    },
    { why: 'max_output_tokens', body: { max_output_tokens: 64 }, chat: { max_completion_tokens: 64 } },
    { why: 'reasoning', body: { reasoning: { effort: 'low', summary: 'auto' } }, chat: { reasoning_effort: 'low' } },
    {
      why: 'a stream needs its usage',
      body: { stream: true },
      chat: { stream: true, stream_options: { include_usage: true } },
    },
    {
      why: 'text.format json_schema',
      body: { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
      chat: {
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      },
    },
    {
      why: 'text.format json_object, verbosity',
      body: { text: { format: { type: 'json_object' }, verbosity: 'low' } },
      chat: { response_format: { type: 'json_object' }, verbosity: 'low' },
    },
    { why: 'text.format text', body: { text: { format: { type: 'text' } } }, chat: {} },
    { why: 'tools', body: { tools: [tool] }, chat: { tools: [nested] } },
    {
      why: 'tool choice',
      body: { tools: [tool], tool_choice: { type: 'function', name: 'read' }, parallel_tool_calls: false },
      chat: {
        tools: [nested],
        tool_choice: { type: 'function', function: { name: 'read' } },
        parallel_tool_calls: false,
      },
    },
    {
      why: 'allowed tools are the tools',
      body: {
        tools: [tool, other],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'read' }] },
      },
      chat: { tools: [nested], tool_choice: 'required' },
    },
    {
      why: 'a choice without tools: engines refuse it',
      body: { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
      chat: {},
    },
    {
      why: 'a custom tool',
      body: {
        tools: [
          {
            type: 'custom',
            name: 'patch',
            description: 'Edits',
            format: { type: 'grammar', syntax: 'lark', definition: 'x' },
          },
        ],
        tool_choice: { type: 'custom', name: 'patch' },
      },
      chat: {
        tools: [
          {
            type: 'function',
            function: {
              name: 'patch',
              description: 'Edits\n\nThe input follows this lark grammar:\nx',
              parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
            },
          },
        ],
        tool_choice: { type: 'function', function: { name: 'patch' } },
      },
    },
    {
      why: 'log-probs by include',
      body: { include: ['message.output_text.logprobs'], top_logprobs: 3 },
      chat: { logprobs: true, top_logprobs: 3 },
    },
  ])('$why', ({ body, chat }) => {
    const { messages, ...rest } = chatBody({ ...body, input: 'Hi' }, none);
    expect(messages).toHaveLength(1);
    expect(rest).toEqual(chat);
  });
});

describe('refusals', () => {
  const missing = responseId(OTHER);
  it.each<{ body: unknown; param: string | null; code?: string | null; status?: number }>([
    { body: null, param: null },
    { body: [], param: null },
    { body: {}, param: 'input' },
    { body: { input: [] }, param: 'input' },
    { body: { input: 5 }, param: 'input' },
    { body: { input: [5] }, param: 'input[0]' },
    { body: { input: [{}] }, param: 'input[0].role' },
    { body: { input: [{ role: 'tool', content: 'x' }] }, param: 'input[0].role' },
    { body: { input: [user(5)] }, param: 'input[0].content' },
    { body: { input: [user([{ type: 'input_text' }])] }, param: 'input[0].content[0].text' },
    { body: { input: [user([{ type: 'input_video' }])] }, param: 'input[0].content[0].type' },
    { body: { input: [user([{ type: 'input_image', file_id: 'file-1' }])] }, param: 'input[0].content[0]' },
    { body: { input: [user([{ type: 'input_file', file_url: 'https://x' }])] }, param: 'input[0].content[0]' },
    { body: { input: [{ role: 'assistant', content: [{ type: 'input_image' }] }] }, param: 'input[0].content[0].type' },
    { body: { input: [{ type: 'web_search_call', id: 'ws_1' }] }, param: 'input[0].type' },
    { body: { input: [{ type: 'compaction', encrypted_content: 'x' }] }, param: 'input[0].type' },
    { body: { input: [{ type: 'function_call', name: 'x', arguments: '{}' }] }, param: 'input[0].call_id' },
    { body: { input: [{ type: 'function_call', call_id: 'x', name: 'x' }] }, param: 'input[0].arguments' },
    { body: { input: [{ type: 'function_call_output', output: 'x' }] }, param: 'input[0].call_id' },
    { body: { input: [{ type: 'function_call_output', call_id: 'a' }] }, param: 'input[0].output' },
    { body: { input: [{ type: 'item_reference', id: 'msg_1' }] }, param: 'input[0]', status: 404, code: null },
    {
      body: { input: [{ type: 'item_reference', id: itemId('msg', OTHER, 0) }] },
      param: 'input[0]',
      status: 404,
      code: null,
    },
    {
      body: { input: 'x', previous_response_id: 'resp_1' },
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    },
    {
      body: { input: 'x', previous_response_id: missing },
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    },
    { body: { input: 'x', instructions: ['y'] }, param: 'instructions' },
    { body: { input: 'x', background: true }, param: 'background' },
    { body: { input: 'x', prompt: { id: 'pmpt_1' } }, param: 'prompt' },
    { body: { input: 'x', conversation: 'conv_1' }, param: 'conversation' },
    { body: { input: 'x', moderation: { model: 'm' } }, param: 'moderation' },
    { body: { input: 'x', messages: [] }, param: 'messages' },
    { body: { input: 'x', n: 2 }, param: 'n' },
    { body: { input: 'x', tools: {} }, param: 'tools' },
    { body: { input: 'x', tools: [{ type: 'web_search' }] }, param: 'tools[0].type' },
    { body: { input: 'x', tools: [{ type: 'file_search' }] }, param: 'tools[0].type' },
    { body: { input: 'x', tools: [{ type: 'code_interpreter' }] }, param: 'tools[0].type' },
    { body: { input: 'x', tools: [{ type: 'mcp' }] }, param: 'tools[0].type' },
    { body: { input: 'x', tools: [{ type: 'computer_use_preview' }] }, param: 'tools[0].type' },
    { body: { input: 'x', tools: [{ type: 'function' }] }, param: 'tools[0].name' },
    { body: { input: 'x', tool_choice: { type: 'mcp', server_label: 's' } }, param: 'tool_choice' },
    { body: { input: 'x', tool_choice: 'sometimes' }, param: 'tool_choice' },
    { body: { input: 'x', text: 'json' }, param: 'text' },
    { body: { input: 'x', text: { format: { type: 'xml' } } }, param: 'text.format.type' },
    { body: { input: 'x', reasoning: 'low' }, param: 'reasoning' },
  ])('%j', ({ body, param, code = 'invalid-request', status = 400 }) => {
    let refusal: unknown;
    try {
      chatBody(body, none);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(RequestRefusal);
    expect(refusal).toMatchObject({ param, code, status });
  });
});

// What takes the square of its size would take hours here.
describe('large conversations', () => {
  const MANY = 300_000;
  it('takes one answer of very many calls', () => {
    const input = Array.from({ length: MANY }, (_, index) => functionCall(`c${index}`));
    const { messages } = chatBody({ input }, none) as unknown as { messages: [Json] };
    expect(messages).toHaveLength(1);
    expect(messages[0]['tool_calls']).toHaveLength(MANY);
  });

  it('takes very many references to the items of one answer', () => {
    const calls = Array.from({ length: 20_000 }, (_, index) => call(`c${index}`));
    const past = new Map([[TURN, { messages: [user('go')], answer: { content: null, tool_calls: calls } }]]);
    const input = calls.map((_, index) => ({ type: 'item_reference', id: itemId('fc', TURN, index) }));
    const { messages } = chatBody({ input }, past) as unknown as { messages: [Json] };
    expect(messages[0]['tool_calls']).toHaveLength(calls.length);
  });

  it('goes on from a conversation of very many messages', () => {
    const messages = Array.from({ length: MANY }, () => user('go'));
    const past = new Map([[TURN, { messages, answer: { content: 'x' } }]]);
    const body = chatBody({ previous_response_id: responseId(TURN), input: 'on' }, past) as { messages: unknown };
    expect(body.messages).toHaveLength(MANY + 2);
  });
});
