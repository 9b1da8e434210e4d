import { itemId, responseId } from './response-ids';
import { chatBody, namedTurns } from './responses-request';
import { none, OTHER, user, type Json } from '../../testing/response-items';

const TURN = '0f8fad5b-d9cb-469f-a165-70867728950e';
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
const result = (callId: string, content: unknown = 'done'): Json => ({ role: 'tool', tool_call_id: callId, content });
const output = (callId: string, value: unknown = 'done'): Json => ({
  type: 'function_call_output',
  call_id: callId,
  output: value,
});
const assistant = (content: string | null, extra: Json = {}): Json => ({ role: 'assistant', content, ...extra });
const thought = (text: string): Json => ({ reasoning_content: text, reasoning: text });

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
