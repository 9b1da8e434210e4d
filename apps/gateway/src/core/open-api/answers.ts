import { errorCodes } from '@hindcast/contracts';
import { exactly, field, listOf, object, oneOfValues, optional, reference, type Fields, type Schema } from './schema';

const usage = optional('object', undefined, {
  properties: { prompt_tokens: field('integer'), completion_tokens: field('integer'), total_tokens: field('integer') },
});
const said: Fields = {
  role: optional('string'),
  content: optional('string'),
  reasoning: optional('string', 'The model’s thoughts, under the name that the engine gives them'),
  reasoning_content: optional('string'),
  refusal: optional('string'),
  tool_calls: optional('array'),
};
const choice = (part: 'message' | 'delta'): Schema =>
  object([part], {
    index: field('integer'),
    [part]: object([], said),
    finish_reason: optional('string'),
    logprobs: optional('object'),
  });
const head = { id: field('string'), object: field('string'), created: field('integer'), model: field('string') };

/** Answers of chat completions are the engine’s own: what is not required here is as the engine has it. */
const chatAnswers: Fields = {
  ChatCompletion: object(['choices'], {
    ...head,
    choices: listOf(choice('message'), undefined, { minItems: 1 }),
    usage,
  }),
  ChatCompletionChunk: object(['choices'], { ...head, choices: listOf(choice('delta')), usage }),
  Model: object(['id'], {
    id: field('string'),
    object: field('string'),
    created: field('integer'),
    owned_by: field('string'),
  }),
};

const responseUsage = optional('object', undefined, {
  required: ['input_tokens', 'input_tokens_details', 'output_tokens', 'output_tokens_details', 'total_tokens'],
  properties: {
    input_tokens: field('integer'),
    input_tokens_details: exactly({ cached_tokens: field('integer') }),
    output_tokens: field('integer'),
    output_tokens_details: exactly({ reasoning_tokens: field('integer') }),
    total_tokens: field('integer'),
  },
});

const responseAnswers: Fields = {
  Response: exactly({
    id: field('string', '`resp_` and the turn id'),
    object: { const: 'response' },
    created_at: field('integer', 'Unix time, seconds'),
    status: oneOfValues(['in_progress', 'completed', 'incomplete', 'failed']),
    background: { const: false },
    error: optional('object', undefined, { properties: { code: field('string'), message: field('string') } }),
    incomplete_details: optional('object', undefined, {
      properties: { reason: oneOfValues(['max_output_tokens', 'content_filter']) },
    }),
    instructions: optional('string'),
    max_output_tokens: optional('integer'),
    max_tool_calls: optional('integer'),
    model: optional('string', 'What the engine says'),
    output: listOf(
      object(['id', 'type'], {
        id: field('string'),
        type: oneOfValues(['reasoning', 'message', 'function_call', 'custom_tool_call']),
      }),
    ),
    parallel_tool_calls: optional('boolean'),
    previous_response_id: optional('string'),
    prompt_cache_key: optional('string'),
    reasoning: exactly({ effort: optional('string'), summary: field('null') }),
    safety_identifier: optional('string'),
    service_tier: optional('string'),
    store: optional('boolean'),
    temperature: optional('number'),
    text: object(['format'], { format: field('object') }),
    tool_choice: field(['string', 'object']),
    tools: field('array'),
    top_logprobs: optional('integer'),
    top_p: optional('number'),
    truncation: { const: 'disabled' },
    usage: responseUsage,
    user: optional('string'),
    metadata: optional('object'),
  }),
  ResponseEvent: object(['type', 'sequence_number'], {
    type: field('string', undefined, { pattern: '^(response\\.[a-z_.]+|error)$' }),
    sequence_number: field('integer'),
    response: reference('Response'),
  }),
};

const messageUsage = object(['input_tokens', 'output_tokens'], {
  input_tokens: field('integer', 'Without the cached ones'),
  output_tokens: field('integer'),
  cache_read_input_tokens: optional('integer'),
  cache_creation_input_tokens: field('null'),
});
const stop = {
  stop_reason: oneOfValues(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal', null]),
  stop_sequence: optional('string'),
  stop_details: optional('object'),
};

const messageAnswers: Fields = {
  Message: object(['id', 'type', 'role', 'model', 'content', ...Object.keys(stop), 'usage'], {
    id: field('string', '`msg_` and the turn id'),
    type: { const: 'message' },
    role: { const: 'assistant' },
    model: field('string', 'What the engine says'),
    content: listOf(object(['type'], { type: oneOfValues(['thinking', 'text', 'tool_use']) })),
    ...stop,
    usage: messageUsage,
  }),
  MessageEvent: {
    oneOf: [
      object(['type', 'message'], { type: { const: 'message_start' }, message: reference('Message') }),
      object(['type', 'index', 'content_block'], {
        type: { const: 'content_block_start' },
        index: field('integer'),
        content_block: field('object'),
      }),
      object(['type', 'index', 'delta'], {
        type: { const: 'content_block_delta' },
        index: field('integer'),
        delta: object(['type'], {
          type: oneOfValues(['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta']),
        }),
      }),
      object(['type', 'index'], { type: { const: 'content_block_stop' }, index: field('integer') }),
      object(['type', 'delta', 'usage'], {
        type: { const: 'message_delta' },
        delta: object(Object.keys(stop), stop),
        usage: field('object'),
      }),
      object(['type'], { type: oneOfValues(['message_stop', 'ping']) }),
      reference('MessagesError'),
    ],
  },
};

const errorAnswers: Fields = {
  Error: exactly({
    error: exactly({
      message: field('string'),
      type: field('string', 'invalid_request_error, authentication_error, rate_limit_error, server_error'),
      code: oneOfValues(
        [...Object.keys(errorCodes), 'previous_response_not_found', null],
        'docs/errors.md has each with what to do',
      ),
      param: optional('string', 'Field of the request that is meant'),
    }),
  }),
  EngineError: object(['error'], {
    error: object([], {
      message: field('string'),
      type: optional('string'),
      code: optional(['string', 'integer']),
      param: optional('string'),
    }),
  }),
  MessagesError: object(['type', 'error'], {
    type: { const: 'error' },
    error: object(['type', 'message'], {
      type: field('string'),
      message: field('string'),
      details: object(['error_code'], { error_code: field('string', 'docs/errors.md has each with what to do') }),
    }),
  }),
};

export const answerSchemas: Fields = { ...chatAnswers, ...responseAnswers, ...messageAnswers, ...errorAnswers };
