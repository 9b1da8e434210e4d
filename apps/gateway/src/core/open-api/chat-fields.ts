import { field, listOf, object, oneOfValues, optional } from './schema';

export const model = optional(
  'string',
  'A name that `/v1/models` lists is served as named; any other, and none, by the current version',
);
const stream = optional('boolean', 'Whether the answer comes as events');

/** Chat completions as OpenAI documents them (API reference, chat/create). */
export const chatFields = {
  messages: listOf(
    object(['role'], {
      role: oneOfValues(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
      content: optional(['string', 'array'], 'A text, or parts: text, image_url, input_audio, file'),
      tool_calls: optional('array', 'Of an assistant message: the calls that it made'),
      tool_call_id: optional('string', 'Of a tool message: the call that it answers'),
      name: optional('string'),
    }),
    'The conversation so far',
    { minItems: 1 },
  ),
  model,
  stream,
  stream_options: optional('object', '`include_usage`: the last event says what was used'),
  max_completion_tokens: optional('integer'),
  max_tokens: optional('integer', 'Older name of `max_completion_tokens`'),
  n: optional('integer', 'Choices; each is a turn of its own', { minimum: 1, maximum: 128 }),
  stop: optional(['string', 'array']),
  temperature: optional('number', 'With SAMPLING=force captured answers are sampled at 1, as with `top_p`'),
  top_p: optional('number'),
  frequency_penalty: optional('number'),
  presence_penalty: optional('number'),
  logit_bias: optional('object'),
  seed: optional('integer'),
  logprobs: optional('boolean'),
  top_logprobs: optional('integer'),
  tools: optional('array'),
  tool_choice: optional(['string', 'object']),
  parallel_tool_calls: optional('boolean'),
  functions: optional('array', 'Older form of `tools`'),
  function_call: optional(['string', 'object'], 'Older form of `tool_choice`'),
  response_format: optional('object', '`text`, `json_object` or `json_schema`'),
  reasoning_effort: optional('string'),
  verbosity: optional('string'),
  modalities: optional('array'),
  audio: optional('object'),
  prediction: optional('object'),
  web_search_options: optional('object'),
  metadata: optional('object'),
  store: optional('boolean', 'Keeps nothing out of training: `train` does'),
  user: optional('string'),
  safety_identifier: optional('string'),
  prompt_cache_key: optional('string'),
  prompt_cache_options: optional('object'),
  prompt_cache_retention: optional('string'),
  service_tier: optional('string'),
  moderation: optional('object'),
};

const sampling = [
  'max_tokens',
  'n',
  'stop',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'seed',
  'user',
] as const;
const shared = Object.fromEntries(
  sampling.map((name) => [name, name === 'n' ? optional('integer') : chatFields[name]]),
);
const texts = 'A text, several, or token ids';

/** Completions as OpenAI documents them (API reference, completions/create). */
export const completionFields = {
  model,
  prompt: optional(['string', 'array'], texts),
  stream,
  stream_options: optional('object'),
  suffix: optional('string'),
  echo: optional('boolean'),
  best_of: optional('integer'),
  logprobs: optional('integer'),
  ...(shared as Record<(typeof sampling)[number], (typeof chatFields)['seed']>),
};

/** Embeddings as OpenAI documents them (API reference, embeddings/create). */
export const embeddingFields = {
  model: optional('string', 'A name that an engine lists; no other model stands in for it'),
  input: field(['string', 'array'], texts),
  dimensions: optional('integer'),
  encoding_format: optional('string', '`float` or `base64`'),
  user: optional('string'),
};
