import { body, type Paths } from './operation';
import { idParameter, ownFields, ownHeaders } from './own-fields';
import {
  answer,
  errors,
  guarded,
  json,
  limited,
  turnIdHeader,
  withBody,
  withEngine,
  withId,
  withLimits,
} from './replies';
import { chatFields, model } from './chat-fields';
import { field, optional, reference } from './schema';

const refused = (what: string): string => `Refused: ${what}`;

/** Responses as OpenAI documents them (API reference, responses/create); docs/clients.md says what becomes of each. */
export const responseFields = {
  input: field(['string', 'array'], 'A text, or items: messages, reasoning, calls, their outputs, item_reference'),
  instructions: optional('string', 'A system message in front'),
  previous_response_id: optional('string', 'A captured response, whose conversation goes on'),
  model,
  stream: optional('boolean', 'Whether the answer comes as events'),
  stream_options: optional('object', 'No effect: the last event always says what was used'),
  max_output_tokens: optional('integer'),
  max_tool_calls: optional('integer', 'No effect'),
  temperature: chatFields.temperature,
  top_p: optional('number'),
  top_logprobs: optional('integer', 'Above 0: with log-probs of the text'),
  include: optional('array', '`message.output_text.logprobs`; the rest has no effect'),
  text: optional('object', '`format` and `verbosity`'),
  reasoning: optional('object', '`effort`; summaries are not made'),
  tools: optional('array', 'Functions and custom tools; hosted tools are refused'),
  tool_choice: optional(['string', 'object']),
  parallel_tool_calls: optional('boolean'),
  truncation: optional('string', 'No effect: nothing is ever cut'),
  context_management: optional('array', 'No effect: nothing is ever compacted'),
  store: optional('boolean', 'No effect: `train: false` keeps an answer out of storage and training'),
  metadata: optional('object', 'No effect'),
  user: optional('string'),
  safety_identifier: optional('string'),
  service_tier: optional('string'),
  prompt_cache_key: optional('string'),
  prompt_cache_options: optional('object', 'No effect'),
  prompt_cache_retention: optional('string'),
  background: optional('boolean', refused('`true`, since only OpenAI’s own servers can do it')),
  conversation: optional(['string', 'object'], refused('send the whole input, or previous_response_id')),
  prompt: optional('object', refused('prompt templates are kept by OpenAI only')),
  moderation: optional('object', refused('it is done by OpenAI only')),
};

export const responsesPaths: Paths = {
  '/v1/responses': {
    post: {
      operationId: 'createResponse',
      tags: ['Models'],
      summary: 'OpenAI’s Responses API, streamed or whole, answered by way of chat completions',
      description: 'Fields that are not listed here go to the engine as they are.',
      parameters: ownHeaders,
      requestBody: body(['input'], { ...responseFields, ...ownFields }),
      responses: limited({
        200: answer(
          reference('Response'),
          reference('ResponseEvent'),
          'A stream ends with `response.completed` or `response.incomplete`; one that breaks off with `error` and `response.failed`.',
          turnIdHeader,
        ),
        ...errors('engine', {
          ...guarded,
          ...withBody,
          ...withEngine,
          ...withLimits,
          400: 'Not a request of this API, or one for what only OpenAI’s own servers can do, or an earlier response is not known',
          404: 'The model or an item that is named is not known',
          503: 'An earlier response is named and NATS is away; no engine is asked for a moment; or Hindcast is starting',
        }),
        ...errors('own', { 401: guarded[401] }),
      }),
    },
  },
  '/v1/responses/{id}': {
    get: {
      operationId: 'retrieveResponse',
      tags: ['Models'],
      summary: 'A captured response: its output and usage; of its request the model, the tools and the sampling',
      parameters: [idParameter('Id of the response')],
      responses: {
        200: json('The response', reference('Response')),
        ...errors('own', {
          ...guarded,
          ...withId,
          404: 'There is no such response, or it was not captured',
          503: 'NATS is away, or Hindcast is starting',
        }),
      },
    },
  },
};
