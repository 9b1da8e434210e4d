import { messageOf } from './messages-answer';
import { messagesErrorBody } from './messages-error';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const options = { stopSequences: ['END'], showsThinking: true };
const completion = (message: object, choice: object = {}, usage: unknown = undefined): Record<string, unknown> => ({
  id: 'chatcmpl-1',
  model: 'hindcast-v000003',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message }, ...choice }],
  usage,
});
const called = (args: unknown, callId: string | null = 'call_1'): object => ({
  id: callId,
  type: 'function',
  function: { name: 'read', arguments: args },
});
const use = (input: unknown, useId = 'call_1'): object => ({
  type: 'tool_use',
  id: useId,
  name: 'read',
  input,
  caller: { type: 'direct' },
});
const text = (value: string): object => ({ type: 'text', text: value, citations: null });

describe('messageOf', () => {
  it('is a message with every field', () => {
    expect(
      messageOf(completion({ content: 'Hello' }, {}, { prompt_tokens: 7, completion_tokens: 2 }), id, options),
    ).toEqual({
      id: 'msg_0f8fad5bd9cb469fa16570867728950e',
      type: 'message',
      role: 'assistant',
      model: 'hindcast-v000003',
      content: [text('Hello')],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: 7,
        output_tokens: 2,
        cache_creation: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        inference_geo: null,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: null,
        speed: null,
      },
    });
  });

  const thinking = { type: 'thinking', thinking: 'hm', signature: 'hindcast' };
  it.each([
    { why: 'reasoning', message: { content: 'a', reasoning_content: 'hm' }, expected: [thinking, text('a')] },
    { why: 'reasoning by its new name', message: { content: 'a', reasoning: 'hm' }, expected: [thinking, text('a')] },
    { why: 'only white space', message: { content: '\n\n', tool_calls: [called('{}')] }, expected: [use({})] },
    { why: 'nothing', message: { content: null }, expected: [] },
    {
      why: 'content as parts',
      message: {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      expected: [text('ab')],
    },
    { why: 'a refusal', message: { content: null, refusal: 'no' }, expected: [text('no')] },
    {
      why: 'text and calls',
      message: { content: 'a', tool_calls: [called('{"p":1}'), called('', null)] },
      expected: [text('a'), use({ p: 1 }), use({}, 'toolu_0f8fad5bd9cb469fa16570867728950e_1')],
    },
    { why: 'arguments as an object', message: { tool_calls: [called({ p: 1 })] }, expected: [use({ p: 1 })] },
    { why: 'arguments that are no JSON', message: { tool_calls: [called('{"p"')] }, expected: [use('{"p"')] },
    { why: 'arguments that are a JSON string', message: { tool_calls: [called('"x"')] }, expected: [use('"x"')] },
    {
      why: 'the call of old',
      message: { function_call: { name: 'read', arguments: '{}' } },
      expected: [use({}, 'toolu_0f8fad5bd9cb469fa16570867728950e_0')],
    },
  ])('content: $why', ({ message, expected }) => {
    expect(messageOf(completion(message), id, options)['content']).toEqual(expected);
  });

  it('arguments too deep to write come as text', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const [block] = messageOf(completion({ tool_calls: [called(deep)] }), id, options)['content'] as {
      input: string;
    }[];
    expect(block!.input === deep).toBe(true);
  });

  it('a client that switched thinking off gets none', () => {
    const message = completion({ content: 'a', reasoning: 'hm' });
    expect(messageOf(message, id, { ...options, showsThinking: false })['content']).toEqual([text('a')]);
  });

  const calls = { tool_calls: [called('{}')] };
  it.each([
    { why: 'the end', message: { content: 'a' }, choice: {}, reason: 'end_turn' },
    { why: 'the limit', message: calls, choice: { finish_reason: 'length' }, reason: 'max_tokens' },
    { why: 'tools', message: calls, choice: { finish_reason: 'tool_calls' }, reason: 'tool_use' },
    { why: 'tools of an engine that says stop', message: calls, choice: {}, reason: 'tool_use' },
    { why: "vLLM's stop string", message: { content: 'a' }, choice: { stop_reason: 'END' }, reason: 'stop_sequence' },
    {
      why: "SGLang's stop string",
      message: { content: 'a' },
      choice: { matched_stop: 'END' },
      reason: 'stop_sequence',
    },
    { why: 'a stop token', message: { content: 'a' }, choice: { stop_reason: 151645 }, reason: 'end_turn' },
    {
      why: 'a stop string of the engine',
      message: { content: 'a' },
      choice: { stop_reason: '<eot>' },
      reason: 'end_turn',
    },
    { why: 'a filter', message: { content: 'a' }, choice: { finish_reason: 'content_filter' }, reason: 'refusal' },
    { why: 'a refusal', message: { refusal: 'no' }, choice: {}, reason: 'refusal' },
  ])('stop reason: $why', ({ message, choice, reason }) => {
    const answer = messageOf(completion(message, choice), id, options);
    expect([answer['stop_reason'], answer['stop_sequence']]).toEqual([
      reason,
      reason === 'stop_sequence' ? 'END' : null,
    ]);
  });

  it.each(['abort', 'error'])('an answer that the engine gave up (%s) is an error', (reason) => {
    expect(() => messageOf(completion({ content: 'a' }, { finish_reason: reason }), id, options)).toThrow('aborted');
  });

  it.each([
    {
      why: 'cached tokens are not among the input tokens',
      usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 8 } },
      ids: {},
      expected: { input_tokens: 2, output_tokens: 3, cache_read_input_tokens: 8 },
    },
    {
      why: 'tokens of thinking',
      usage: { prompt_tokens: 1, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 2 } },
      ids: {},
      expected: { output_tokens_details: { thinking_tokens: 2 } },
    },
    {
      why: 'ids count where no usage came',
      usage: undefined,
      ids: { prompt_token_ids: [1, 2, 3] },
      expected: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: null },
    },
  ])('usage: $why', ({ usage, ids, expected }) => {
    const answer = messageOf({ ...completion({ content: 'a' }, { token_ids: [5, 6] }, usage), ...ids }, id, options);
    expect(answer['usage']).toMatchObject(expected);
  });
});

describe('messagesErrorBody', () => {
  const openAi = JSON.stringify({
    error: { message: 'why', type: 'server_error', code: 'engine-timeout', param: null },
  });
  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ])('%i is %s', (status, type) => {
    expect(JSON.parse(messagesErrorBody(status, openAi))).toEqual({
      type: 'error',
      error: { type, message: 'why', details: { error_code: 'engine-timeout' } },
    });
  });

  it.each([
    { why: 'no JSON', text: 'oops', message: 'oops' },
    { why: 'no error in it', text: '{"detail":"x"}', message: '{"detail":"x"}' },
    { why: 'a number as code', text: '{"error":{"message":"why","code":400}}', message: 'why' },
    { why: "Anthropic's own", text: '{"type":"error","error":{"type":"api_error","message":"m"}}', message: 'm' },
  ])('$why', ({ text: body, message }) => {
    expect(JSON.parse(messagesErrorBody(500, body))).toEqual({ type: 'error', error: { type: 'api_error', message } });
  });
});
