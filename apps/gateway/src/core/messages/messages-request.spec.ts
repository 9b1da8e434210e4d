import fc from 'fast-check';
import { checkRequest } from '../request-check';
import { countedRequest, messagesRequest } from './messages-request';

const ask = (fields: object): object => ({ max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields });
const chatOf = (body: unknown, dialect: 'vllm' | 'sglang' | 'openai' = 'vllm'): Record<string, unknown> => {
  const request = messagesRequest(body, dialect);
  if (!request.ok) throw new Error(request.message);
  return request.chat;
};
const talk = (...messages: object[]): unknown => chatOf(ask({ messages }))['messages'];
const user = (...content: object[]): object => ({ role: 'user', content });
const assistant = (...content: object[]): object => ({ role: 'assistant', content });
const text = (value: string): object => ({ type: 'text', text: value });
const use = (id: string, input: unknown): object => ({ type: 'tool_use', id, name: 'read', input });
const called = (id: string, args: string): object => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: args },
});
const result = (id: string, fields: object = {}): object => ({ type: 'tool_result', tool_use_id: id, ...fields });
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const pngPart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const last = { role: 'user', content: 'go on' };

describe('messages: fields of the request', () => {
  it.each([
    { why: 'nothing but the needed', fields: {}, expected: { max_tokens: 9 } },
    { why: 'model', fields: { model: 'claude-x' }, expected: { model: 'claude-x' } },
    {
      why: 'sampling',
      fields: { temperature: 0, top_p: 0.5, top_k: 3 },
      expected: { temperature: 0, top_p: 0.5, top_k: 3 },
    },
    {
      why: 'null is not given',
      fields: { temperature: null, stop_sequences: null, tools: null, metadata: null },
      expected: {},
    },
    { why: 'stop sequences', fields: { stop_sequences: ['\n\nHuman:'] }, expected: { stop: ['\n\nHuman:'] } },
    { why: 'no stop sequence', fields: { stop_sequences: [] }, expected: {} },
    { why: 'no user: an engine has no use for it', fields: { metadata: { user_id: 'u1' } }, expected: {} },
    { why: 'not streamed', fields: { stream: false }, expected: { stream: false } },
    {
      why: 'usage belongs to a stream, captured or not',
      fields: { stream: true },
      expected: { stream: true, stream_options: { include_usage: true } },
    },
    {
      why: 'structured output',
      fields: { output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } } },
      expected: {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'output', schema: { type: 'object' }, strict: true },
        },
      },
    },
    {
      why: "Hindcast's own fields, and template arguments",
      fields: {
        session_id: 's',
        turn_type: 'side',
        session_done: true,
        session_outcome: 'pending',
        train: false,
        ground_truth: '7',
        chat_template_kwargs: { a: 1 },
      },
      expected: {
        session_id: 's',
        turn_type: 'side',
        session_done: true,
        session_outcome: 'pending',
        ground_truth: '7',
        train: false,
        chat_template_kwargs: { a: 1 },
      },
    },
    {
      why: 'what only Anthropic can do',
      fields: {
        thinking: { type: 'enabled', budget_tokens: 2000 },
        service_tier: 'auto',
        cache_control: { type: 'ephemeral' },
        container: null,
        context_management: { edits: [] },
        inference_geo: 'eu',
        speed: 'fast',
      },
      expected: {},
    },
  ])('$why', ({ fields, expected }) => {
    expect(chatOf(ask(fields))).toEqual({ max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...expected });
  });

  it.each([
    { why: 'none', metadata: undefined, expected: null },
    { why: 'metadata without one', metadata: {}, expected: null },
    { why: 'one', metadata: { user_id: 'u1' }, expected: 'u1' },
  ])('the user, who stays at the gateway: $why', ({ metadata, expected }) => {
    expect(messagesRequest(ask({ metadata }), 'vllm')).toMatchObject({ ok: true, user: expected });
  });

  const tool = {
    name: 'read',
    description: 'Reads',
    input_schema: { type: 'object' },
    cache_control: {},
    defer_loading: false,
  };
  const tools = [tool];
  it('custom tools become function tools', () => {
    expect(
      chatOf(ask({ tools: [tool, { ...tool, type: 'custom', description: undefined, strict: true }] }))['tools'],
    ).toEqual([
      { type: 'function', function: { name: 'read', description: 'Reads', parameters: { type: 'object' } } },
      { type: 'function', function: { name: 'read', parameters: { type: 'object' }, strict: true } },
    ]);
  });

  it.each([
    { choice: { type: 'auto' }, expected: { tool_choice: 'auto' } },
    { choice: { type: 'any' }, expected: { tool_choice: 'required' } },
    { choice: { type: 'none' }, expected: { tool_choice: 'none' } },
    {
      choice: { type: 'tool', name: 'read' },
      expected: { tool_choice: { type: 'function', function: { name: 'read' } } },
    },
    {
      choice: { type: 'auto', disable_parallel_tool_use: true },
      expected: { tool_choice: 'auto', parallel_tool_calls: false },
    },
    {
      choice: { type: 'any', disable_parallel_tool_use: false },
      expected: { tool_choice: 'required', parallel_tool_calls: true },
    },
  ])('tool_choice $choice', ({ choice, expected }) => {
    const { tool_choice, parallel_tool_calls } = chatOf(ask({ tools, tool_choice: choice }));
    expect({ tool_choice, parallel_tool_calls }).toEqual({ parallel_tool_calls: undefined, ...expected });
  });

  it('tool_choice without tools says nothing', () => {
    expect(chatOf(ask({ tool_choice: { type: 'auto' } }))).not.toHaveProperty('tool_choice');
  });
});

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

describe('messages: refused requests', () => {
  const messages = (...list: unknown[]): object => ask({ messages: list });
  it.each([
    { why: 'no object', body: [], param: 'body' },
    { why: 'no max_tokens', body: { messages: [last] }, param: 'max_tokens' },
    { why: 'max_tokens of 0', body: ask({ max_tokens: 0 }), param: 'max_tokens' },
    { why: 'no messages', body: { max_tokens: 1 }, param: 'messages' },
    { why: 'empty messages', body: messages(), param: 'messages' },
    { why: 'a message that is none', body: messages('x'), param: 'messages.0' },
    { why: 'an unknown role', body: messages({ role: 'tool', content: 'x' }), param: 'messages.0.role' },
    { why: 'no content', body: messages({ role: 'user' }), param: 'messages.0.content' },
    { why: 'a text without text', body: messages(user({ type: 'text' })), param: 'messages.0.content.0.text' },
    { why: 'an unknown block', body: messages(user(text('a'), { type: 'hologram' })), param: 'messages.0.content.1' },
    { why: "a user's tool_use", body: messages(user(use('a', {}))), param: 'messages.0.content.0' },
    { why: "an assistant's tool_result", body: messages(assistant(result('a'))), param: 'messages.0.content.0' },
    {
      why: "an answer with Anthropic's own tools",
      body: messages(last, assistant({ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }), last),
      param: 'messages.1.content.0',
    },
    {
      why: 'a file of Anthropic',
      body: messages(user({ type: 'image', source: { type: 'file' } })),
      param: 'messages.0.content.0.source',
    },
    {
      why: 'a PDF elsewhere',
      body: messages(user({ type: 'document', source: { type: 'url', url: 'x' } })),
      param: 'messages.0.content.0.source',
    },
    {
      why: 'a result of no call',
      body: messages(user({ type: 'tool_result' })),
      param: 'messages.0.content.0.tool_use_id',
    },
    {
      why: "Anthropic's web search",
      body: ask({ tools: [{ type: 'web_search_20260318', name: 'web_search' }] }),
      param: 'tools.0',
    },
    { why: "Anthropic's shell", body: ask({ tools: [{ type: 'bash_20250124', name: 'bash' }] }), param: 'tools.0' },
    { why: 'a tool without schema', body: ask({ tools: [{ name: 'a' }] }), param: 'tools.0.input_schema' },
    { why: 'servers for Anthropic to ask', body: ask({ mcp_servers: [{ url: 'x' }] }), param: 'mcp_servers' },
    { why: 'a choice that is none', body: ask({ tool_choice: { type: 'maybe' } }), param: 'tool_choice.type' },
    { why: 'a forced tool without tools', body: ask({ tool_choice: { type: 'any' } }), param: 'tool_choice' },
    { why: 'a stop sequence of another type', body: ask({ stop_sequences: ['a', 1] }), param: 'stop_sequences.1' },
    { why: 'a stream of another type', body: ask({ stream: 'yes' }), param: 'stream' },
    {
      why: 'another output format',
      body: ask({ output_config: { format: { type: 'xml' } } }),
      param: 'output_config.format.type',
    },
    { why: 'a system prompt of another type', body: ask({ system: 5 }), param: 'system' },
  ])('$why', ({ body, param }) => {
    const request = messagesRequest(body, 'vllm');
    expect(request).toMatchObject({ ok: false, param });
    expect(!request.ok && request.message.startsWith(`${param}: `)).toBe(true);
  });

  it('counting needs no max_tokens', () => {
    const messages = [{ role: 'system', content: 's' }, last];
    expect(countedRequest({ model: 'm', system: 's', messages: [last] }, 'vllm')).toEqual({
      ok: true,
      model: 'm',
      prompt: { messages, add_generation_prompt: true },
    });
    expect(countedRequest({ messages: [last, assistant(text('So'))], tools: [] }, 'vllm')).toMatchObject({
      model: null,
      prompt: { add_generation_prompt: false, continue_final_message: true },
    });
    expect(countedRequest({}, 'vllm')).toMatchObject({ ok: false, param: 'messages' });
  });
});

describe('messages: any body at all', () => {
  const word = fc.constantFrom(
    ...[
      'role',
      'user',
      'assistant',
      'system',
      'content',
      'type',
      'text',
      'tool_use',
      'tool_result',
      'thinking',
      'image',
    ],
    ...['document', 'source', 'base64', 'url', 'data', 'id', 'name', 'input', 'tool_use_id', 'search_result', 'title'],
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 5 }, word, fc.jsonValue({ maxDepth: 0 }), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 3 }),
    object: fc.dictionary(word, tie('any'), { maxKeys: 5 }),
  })).any;
  const block = fc.record(
    { type: word, text: value, source: value, content: value, id: value, name: value, input: value },
    { requiredKeys: ['type'] },
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(value, fc.array(fc.oneof(block, value), { maxLength: 4 })),
  });
  const body = fc.record(
    {
      max_tokens: fc.constant(1),
      messages: fc.oneof(value, fc.array(fc.oneof(message, value), { maxLength: 4 })),
      system: value,
      tools: value,
      tool_choice: value,
      metadata: value,
    },
    { requiredKeys: ['max_tokens', 'messages'] },
  );

  it('is refused in words, or is a chat request; the same one each time', () => {
    fc.assert(
      fc.property(fc.oneof(body, value), (given) => {
        const request = messagesRequest(given, 'vllm');
        expect(messagesRequest(given, 'vllm')).toEqual(request);
        if (request.ok) expect(checkRequest(request.chat)).toMatchObject({ ok: true });
        else expect(request.message).toMatch(/^\S+: .+/);
      }),
      { numRuns: 1_000 },
    );
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
