import { chatFields, model } from './chat-fields';
import { body, type Paths } from './operation';
import { ownFields, ownHeaders } from './own-fields';
import { answer, errors, guarded, json, limited, turnIdHeader, withBody, withEngine, withLimits } from './replies';
import { exactly, field, listOf, object, optional, oneOfValues, reference } from './schema';

const NO_EFFECT = 'No effect';

/** What decides the prompt. */
const conversation = {
  messages: listOf(
    object(['role', 'content'], {
      role: oneOfValues(['user', 'assistant', 'system']),
      content: field(['string', 'array'], 'A text, or content blocks'),
    }),
    'The conversation so far',
    { minItems: 1 },
  ),
  model,
  system: optional(['string', 'array'], 'A text, or text blocks'),
  tools: optional('array', 'Custom tools; tools that only Anthropic runs are refused'),
  chat_template_kwargs: optional('object', 'Goes to the engine’s chat template'),
};

/** Messages as Anthropic documents them (API reference, messages); docs/clients.md says what becomes of each. */
export const messageFields = {
  ...conversation,
  max_tokens: field('integer', undefined, { minimum: 1 }),
  stream: optional('boolean', 'Whether the answer comes as events'),
  tool_choice: optional('object'),
  stop_sequences: optional('array', undefined, { items: { type: 'string' } }),
  temperature: chatFields.temperature,
  top_p: optional('number'),
  top_k: optional('integer'),
  seed: optional('integer', 'Not Anthropic’s: goes to the engine'),
  thinking: optional('object', '`disabled` leaves thinking out of the answer'),
  output_config: optional('object', '`format`: a JSON schema that the answer must follow'),
  metadata: optional('object', '`user_id` tells the engine the user'),
  cache_control: optional('object', NO_EFFECT),
  container: optional(['string', 'object'], NO_EFFECT),
  diagnostics: optional('object', NO_EFFECT),
  inference_geo: optional('string', NO_EFFECT),
  service_tier: optional('string', NO_EFFECT),
  speed: optional('string', NO_EFFECT),
  user_profile_id: optional('string', NO_EFFECT),
  workspace_id: optional('string', NO_EFFECT),
};

export const countFields = {
  ...conversation,
  tool_choice: optional('object', NO_EFFECT),
  thinking: optional('object', NO_EFFECT),
  output_config: optional('object', NO_EFFECT),
  cache_control: optional('object', NO_EFFECT),
  speed: optional('string', NO_EFFECT),
  user_profile_id: optional('string', NO_EFFECT),
  workspace_id: optional('string', NO_EFFECT),
};

export const messagesPaths: Paths = {
  '/v1/messages': {
    post: {
      operationId: 'createMessage',
      tags: ['Models'],
      summary: 'Anthropic’s Messages API, streamed or whole, answered by way of chat completions',
      parameters: ownHeaders,
      requestBody: body(['messages', 'max_tokens'], { ...messageFields, ...ownFields }),
      responses: limited({
        200: answer(
          reference('Message'),
          reference('MessageEvent'),
          'A stream ends with `message_stop`; one that breaks off with `error`.',
          turnIdHeader,
        ),
        ...errors('messages', {
          ...guarded,
          ...withBody,
          ...withEngine,
          ...withLimits,
          400: 'Not a request of this API, or one that cannot be expressed in chat completions',
        }),
      }),
    },
  },
  '/v1/messages/count_tokens': {
    post: {
      operationId: 'countTokens',
      tags: ['Models'],
      summary: 'Tokens of a conversation’s prompt, as an engine counts them',
      requestBody: body(['messages'], countFields),
      responses: limited({
        200: json('The count', exactly({ input_tokens: field('integer', undefined, { minimum: 0 }) })),
        ...errors('messages', { ...guarded, ...withBody, ...withEngine, ...withLimits }),
        501: {
          ...errors('messages', { 501: 'Engines of this dialect cannot count; it is no use to ask again' })[501]!,
          headers: {
            'x-should-retry': { description: 'Tells Anthropic’s SDKs not to ask again', schema: { const: 'false' } },
          },
        },
      }),
    },
  },
};
