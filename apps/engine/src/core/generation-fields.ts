import { z } from 'zod';
import { RequestError } from './request-error';

const flag = z.boolean().nullish();
const integer = z.number().int();
const int32 = integer.min(-(2 ** 31)).max(2 ** 31 - 1);

/** What chat and completion requests have in common. Unknown fields are ignored, as vLLM does. */
export const generationFields = {
  model: z.string().nullish(),
  stream: flag,
  stream_options: z.looseObject({ include_usage: flag, continuous_usage_stats: flag }).nullish(),
  n: integer.nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: integer.nullish(),
  min_p: z.number().nullish(),
  seed: integer.min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stop_token_ids: z.array(int32).nullish(),
  ignore_eos: flag,
  min_tokens: integer.nullish(),
  skip_special_tokens: flag,
  include_stop_str_in_output: flag,
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  prompt_logprobs: integer.nullish(),
  return_token_ids: flag,
  return_tokens_as_token_ids: flag,
  response_format: z.looseObject({ type: z.string() }).nullish(),
  max_tokens: integer.nullish(),
};
export type GenerationFields = z.infer<z.ZodObject<typeof generationFields, z.core.$loose>>;

/** How tokens are drawn. */
export interface SamplingRequest {
  /** 0: the most likely token, always. */
  readonly temperature: number;
  /** In (0, 1]. */
  readonly topP: number;
  /** 0: no limit. */
  readonly topK: number;
  /** Null: any. */
  readonly seed: number | null;
}

/** Common request fields with their defaults. */
export interface GenerationRequest {
  readonly model: string | null;
  readonly n: number;
  readonly sampling: SamplingRequest;
  /** Null: as many as fit. */
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly ignoreEos: boolean;
  readonly keepStop: boolean;
  readonly skipSpecialTokens: boolean;
  readonly promptTop: number | null;
  readonly wantsTokenIds: boolean;
  readonly tokensAsIds: boolean;
  readonly stream: { readonly usage: boolean; readonly continuousUsage: boolean } | null;
}

/** The largest `logprobs`, `top_logprobs` and `prompt_logprobs`: vLLM's default `--max-logprobs`. */
export const MAX_LOG_PROBS = 20;
/** Below this, vLLM takes the most likely token. */
const GREEDY_TEMPERATURE = 1e-5;
const MAX_CHOICES = 128;

/** Parses a body; a field of the wrong type is a refusal that names it. */
export function parseBody<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new RequestError(
    'BadRequestError',
    parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'body'}: ${message}`).join('; '),
    path || null,
  );
}

/** Checks ranges, fills in defaults, and refuses what this engine does not do rather than ignoring it. */
export function generationRequest(fields: GenerationFields): GenerationRequest {
  refuseUnsupported(fields);
  const { temperature, top_p: topP, top_k: topK, n } = fields;
  check(
    temperature == null || temperature >= 0,
    'temperature',
    `temperature must be non-negative, got ${temperature}.`,
  );
  check(topP == null || (topP > 0 && topP <= 1), 'top_p', `top_p must be in (0, 1], got ${topP}.`);
  check(topK == null || topK >= -1, 'top_k', `top_k must be 0 (disable), or at least 1, got ${topK}.`);
  check(n == null || n >= 1, 'n', `n must be at least 1, got ${n}.`);
  check(n == null || n <= MAX_CHOICES, 'n', `n must be at most ${MAX_CHOICES}, got ${n}.`);
  const stop = typeof fields.stop === 'string' ? [fields.stop] : (fields.stop ?? []);
  check(!stop.includes(''), 'stop', 'stop cannot contain an empty string.');
  const isStream = fields.stream ?? false;
  check(
    isStream || fields.stream_options == null,
    'stream_options',
    'Stream options can only be defined when `stream=True`.',
  );
  check(
    !isStream || fields.prompt_logprobs == null,
    'prompt_logprobs',
    '`prompt_logprobs` are not available when `stream=True`.',
  );
  check(
    fields.prompt_logprobs == null || (fields.prompt_logprobs >= 0 && fields.prompt_logprobs <= MAX_LOG_PROBS),
    'prompt_logprobs',
    `Requested prompt logprobs of ${fields.prompt_logprobs}, which must be from 0 to the max allowed: ${MAX_LOG_PROBS}.`,
  );
  const isGreedy = (temperature ?? 1) < GREEDY_TEMPERATURE;
  return {
    model: fields.model ?? null,
    n: n ?? 1,
    sampling: {
      temperature: isGreedy ? 0 : (temperature ?? 1),
      topP: topP ?? 1,
      topK: Math.max(0, topK ?? 0),
      seed: fields.seed ?? null,
    },
    maxTokens: fields.max_tokens ?? null,
    stop,
    stopTokenIds: fields.stop_token_ids ?? [],
    ignoreEos: fields.ignore_eos ?? false,
    keepStop: fields.include_stop_str_in_output ?? false,
    skipSpecialTokens: fields.skip_special_tokens ?? true,
    promptTop: fields.prompt_logprobs ?? null,
    wantsTokenIds: fields.return_token_ids ?? false,
    tokensAsIds: fields.return_tokens_as_token_ids ?? false,
    stream: isStream
      ? {
          usage: fields.stream_options?.include_usage ?? false,
          continuousUsage:
            ((fields.stream_options?.include_usage ?? false) && fields.stream_options?.continuous_usage_stats) ?? false,
        }
      : null,
  };
}

/** Fields that change what is sampled and that this engine does not have: only their neutral value is taken. */
function refuseUnsupported(fields: GenerationFields): void {
  const neutral: [keyof GenerationFields & string, unknown, boolean][] = [
    ['presence_penalty', 0, (fields.presence_penalty ?? 0) === 0],
    ['frequency_penalty', 0, (fields.frequency_penalty ?? 0) === 0],
    ['repetition_penalty', 1, (fields.repetition_penalty ?? 1) === 1],
    ['min_p', 0, (fields.min_p ?? 0) === 0],
    ['min_tokens', 0, (fields.min_tokens ?? 0) === 0],
    ['logit_bias', '{}', Object.keys(fields.logit_bias ?? {}).length === 0],
    ['response_format', 'text', (fields.response_format?.type ?? 'text') === 'text'],
  ];
  for (const [name, value, isNeutral] of neutral)
    check(isNeutral, name, `This engine does not support \`${name}\` other than ${String(value)}.`);
}

/** Throws the refusal when a condition does not hold. */
export function check(holds: boolean, param: string, message: string): void {
  if (!holds) throw new RequestError('BadRequestError', message, param);
}

/**
 * How many tokens may be generated behind a prompt.
 * @throws RequestError as vLLM words it, when prompt and answer do not fit the model's positions
 */
export function tokenBudget(promptLength: number, maxTokens: number | null, maxModelLength: number): number {
  check(promptLength > 0, 'prompt', 'The decoder prompt cannot be empty');
  const minimum = maxTokens === 0 ? 0 : 1;
  check(
    promptLength + minimum <= maxModelLength,
    'input_tokens',
    `This model's maximum context length is ${maxModelLength} tokens. However, your request has ${promptLength} input tokens. ` +
      'Please reduce the length of the input messages.',
  );
  const room = maxModelLength - promptLength;
  if (maxTokens === null) return room;
  check(
    maxTokens <= room,
    'max_tokens',
    `'max_tokens' or 'max_completion_tokens' is too large: ${maxTokens}. This model's maximum context length is ${maxModelLength} ` +
      `tokens and your request has ${promptLength} input tokens (${maxTokens} > ${maxModelLength} - ${promptLength}).`,
  );
  return maxTokens;
}
