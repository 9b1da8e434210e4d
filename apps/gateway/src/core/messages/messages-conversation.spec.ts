import { ask, chatOf, user, assistant, text, use, result, last } from '../../testing/message-blocks';

const talk = (...messages: object[]): unknown => chatOf(ask({ messages }))['messages'];
const called = (id: string, args: string): object => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: args },
});
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const pngPart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

describe('messages: system prompt', () => {
  it.each([
    { why: 'a string', system: 'be kind', expected: 'be kind' },
    { why: 'blocks', system: [text('a'), { ...text('b'), cache_control: { type: 'ephemeral' } }], expected: 'a\nb' },
    {
      why: 'a line that is new in every request',
      system: [text('x-anthropic-billing-header: cch=1;'), text('a')],
      expected: 'a',
    },
    { why: 'the same inside a text', system: 'x-anthropic-billing-header: cch=1;\na\nb', expected: 'a\nb' },
    { why: 'nothing', system: '', expected: null },
  ])('$why', ({ system, expected }) => {
    const [first] = chatOf(ask({ system }))['messages'] as object[];
    expect(first).toEqual(expected === null ? { role: 'user', content: 'hi' } : { role: 'system', content: expected });
  });

  it('may stand among the messages', () => {
    expect(talk({ role: 'user', content: 'a' }, { role: 'system', content: [text('b')] })).toEqual([
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
    ]);
  });
});

describe('messages: conversation', () => {
  it.each([
    { why: 'a lone text is a string', content: [text('a')], expected: 'a' },
    { why: 'texts stay apart', content: [text('a'), text('b')], expected: [text('a'), text('b')] },
    { why: 'empty texts say nothing', content: [text(''), text('b')], expected: 'b' },
    { why: 'no block', content: [], expected: '' },
    { why: 'a picture', content: [png, text('what?')], expected: [pngPart, text('what?')] },
    {
      why: 'a picture elsewhere',
      content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
      expected: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }],
    },
    {
      why: 'a text document',
      content: [
        {
          type: 'document',
          title: 'T',
          context: 'C',
          source: { type: 'text', media_type: 'text/plain', data: 'body' },
        },
      ],
      expected: [text('T'), text('C'), text('body')],
    },
    {
      why: 'a document of blocks',
      content: [{ type: 'document', source: { type: 'content', content: [text('x'), png] } }],
      expected: [text('x'), pngPart],
    },
    {
      why: 'a PDF',
      content: [
        { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JV' } },
      ],
      expected: [
        text('a.pdf'),
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JV' } },
      ],
    },
    {
      why: 'a search result',
      content: [{ type: 'search_result', title: 'T', source: 'https://x.test', content: [text('found')] }],
      expected: [text('T'), text('https://x.test'), text('found')],
    },
  ])('user: $why', ({ content, expected }) => {
    expect(talk({ role: 'user', content })).toEqual([{ role: 'user', content: expected }]);
  });

  it('tool results and text become tool messages and a user message, in order', () => {
    expect(
      talk(
        { role: 'user', content: 'list' },
        assistant(text('I look. '), use('a', { p: 1 }), use('b', {})),
        user(result('a', { content: 'one' }), result('b', { content: [text('two'), text('three')] }), text('and now?')),
      ),
    ).toEqual([
      { role: 'user', content: 'list' },
      { role: 'assistant', content: 'I look. ', tool_calls: [called('a', '{"p":1}'), called('b', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two\nthree' },
      { role: 'user', content: 'and now?' },
    ]);
  });

  it.each([
    { why: 'no content', fields: {}, expected: '' },
    { why: 'an error', fields: { content: 'no such file', is_error: true }, expected: 'Error: no such file' },
    { why: 'an error that says so', fields: { content: 'ERROR 5', is_error: true }, expected: 'ERROR 5' },
    { why: 'no error', fields: { content: 'fine', is_error: false }, expected: 'fine' },
    {
      why: 'a document',
      fields: { content: [{ type: 'document', source: { type: 'text', data: 'body' } }] },
      expected: 'body',
    },
  ])('tool result: $why', ({ fields, expected }) => {
    expect(talk(user(result('a', fields)))).toEqual([{ role: 'tool', tool_call_id: 'a', content: expected }]);
  });

  it('pictures of tool results follow the run of results, before the text', () => {
    expect(talk(user(result('a', { content: [text('shot'), png] }), result('b'), text('see')))).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'shot' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: [pngPart, text('see')] },
    ]);
  });

  it('text before a tool result stays before it', () => {
    expect(talk(user(text('wait'), result('a', { content: 'x' })))).toEqual([
      { role: 'user', content: 'wait' },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]);
  });

  it('an answer that comes back block by block is one message; user messages stay as they are', () => {
    expect(
      talk(last, last, assistant(text('a')), { role: 'assistant', content: 'b' }, assistant(use('c', {})), last),
    ).toEqual([last, last, { role: 'assistant', content: 'ab', tool_calls: [called('c', '{}')] }, last]);
  });

  const thought = assistant(
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking', data: 'x' },
    text('a'),
  );
  it.each([
    { dialect: 'vllm', expected: { reasoning: 'hm', reasoning_content: 'hm' } },
    { dialect: 'sglang', expected: { reasoning_content: 'hm' } },
    { dialect: 'openai', expected: {} },
  ] as const)('thinking goes to an engine of dialect $dialect as $expected', ({ dialect, expected }) => {
    const { messages } = chatOf(ask({ messages: [thought, last] }), dialect);
    expect(messages).toEqual([{ role: 'assistant', content: 'a', ...expected }, last]);
  });

  it.each([
    { why: 'only calls', blocks: [use('a', {})], expected: { content: null, tool_calls: [called('a', '{}')] } },
    { why: 'nothing at all', blocks: [], expected: { content: '' } },
    {
      why: 'arguments that were no JSON',
      blocks: [use('a', '{"p')],
      expected: { content: null, tool_calls: [called('a', '{"p')] },
    },
    {
      why: 'no arguments',
      blocks: [use('a', undefined)],
      expected: { content: null, tool_calls: [called('a', '{}')] },
    },
  ])('answer: $why', ({ blocks, expected }) => {
    expect(talk(assistant(...blocks), last)).toEqual([{ role: 'assistant', ...expected }, last]);
  });

  it.each([
    { dialect: 'vllm', continues: true },
    { dialect: 'sglang', continues: true },
    { dialect: 'openai', continues: undefined },
  ] as const)('a begun answer is continued by $dialect: $continues', ({ dialect, continues }) => {
    const chat = chatOf(ask({ messages: [last, assistant(text('The answer is'))] }), dialect);
    expect(chat['continue_final_message']).toBe(continues);
    expect(chat['add_generation_prompt']).toBe(continues === undefined ? undefined : false);
  });
});

// What takes the square of its size would take hours here; arguments of one call would not fit on the stack.
describe('messages: large conversations', () => {
  const MANY = 300_000;
  it('takes very many messages of one answer', () => {
    const messages = Array.from({ length: MANY }, (_, index) => assistant(use(`t${index}`, {})));
    const [answer, ...others] = chatOf(ask({ messages: [...messages, last] }))['messages'] as [
      { tool_calls: object[] },
      object,
    ];
    expect(answer.tool_calls).toHaveLength(MANY);
    expect(others).toHaveLength(1);
  });

  it('takes very many results in one message', () => {
    const results = Array.from({ length: MANY }, () => result('t', { content: 'x' }));
    expect(talk({ role: 'user', content: results })).toHaveLength(MANY);
  });

  it('takes very many blocks in one document or result', () => {
    const blocks = Array.from({ length: MANY }, () => text('x'));
    const document = { type: 'document', source: { type: 'content', content: blocks } };
    const [message] = talk(user(document)) as [{ content: object[] }];
    expect(message.content).toHaveLength(MANY);
    const pictures = Array.from({ length: MANY }, () => png);
    const [, shown] = talk(user(result('t', { content: pictures }))) as [object, { content: object[] }];
    expect(shown.content).toHaveLength(MANY);
  });
});
