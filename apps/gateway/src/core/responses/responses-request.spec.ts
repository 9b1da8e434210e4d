import { RequestRefusal } from './request-refusal';
import { itemId, responseId } from './response-ids';
import { chatBody } from './responses-request';
import { none, OTHER, user, type Json } from '../../testing/response-items';

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
