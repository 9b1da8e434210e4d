import fc from 'fast-check';
import { checkRequest } from '../request-check';
import { countedRequest, messagesRequest } from './messages-request';
import { ask, chatOf, user, assistant, text, use, result, last } from '../../testing/message-blocks';

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
      { numRuns: 1_000, examples: [[{ max_tokens: 1, messages: [{ role: 'system', content: null }] }]] },
    );
  });
});
