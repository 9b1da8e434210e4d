import { defaultSampling, neutralOpenAiSampling, neutralSampling, samplerFields } from './off-policy';
import type { AskedFields } from './strip-fields';
import { nothingAsked } from './strip-fields';

type Json = Record<string, unknown>;
export type Dialect = 'vllm' | 'sglang' | 'openai';

export interface EngineRequest {
  readonly body: Json;
  readonly asked: AskedFields;
}

/** Fields of our own protocol; the raw session id stops here. */
const OWN_FIELDS = ['session_id', 'session_done', 'session_outcome', 'turn_type', 'train', 'ground_truth'];

/**
 * The request as the engine gets it. A captured one asks for ids, log-probs and usage, and says how to sample: a default left
 * to the engine would be whatever the model's generation config says, and could not be recorded.
 */
export function engineRequest(
  request: Json,
  options: {
    readonly dialect: Dialect;
    readonly isCaptured: boolean;
    readonly forceSampling: boolean;
    /** The ids of an `openai` server's answers are found, so that they can train. */
    readonly recoversIds?: boolean;
    /** Its caller has a limit on tokens: a stream has to say how many they were, captured or not. */
    readonly isCounted?: boolean;
  },
): EngineRequest {
  const body: Json = { ...request };
  // To delete what is not there makes the object a slow one all the same.
  for (const field of OWN_FIELDS) if (field in body) delete body[field];
  const streamOptions = (request['stream_options'] ?? {}) as Json;
  const asksUsage = request['stream'] === true && (options.isCaptured || options.isCounted === true);
  if (asksUsage) body['stream_options'] = { ...streamOptions, include_usage: true };
  const usage = asksUsage && streamOptions['include_usage'] !== true;
  const ownNullUsage = options.dialect === 'sglang' && { ownNullUsage: true };
  if (!options.isCaptured) return { body, asked: { ...nothingAsked, usage, ...(usage && ownNullUsage) } };

  for (const [field, value] of plainSampling(options)) {
    if (options.forceSampling) body[field] = value;
    else body[field] ??= value;
  }
  if (options.forceSampling)
    for (const field of ['presence_penalty', 'frequency_penalty', 'logit_bias', ...samplerFields]) delete body[field];

  body['logprobs'] = true;
  const idFields = idFieldsOf(options.dialect, request);
  for (const field of idFields) body[field] = true;
  return {
    body,
    asked: {
      tokenIds: idFields.includes('return_token_ids') && request['return_token_ids'] !== true,
      logProbs: request['logprobs'] !== true,
      usage,
      ...(options.dialect === 'sglang' && { extension: askedExtension(request) }),
      ...ownNullUsage,
    },
  };
}

const fieldsOf = (beyond: Readonly<Record<string, number>>): readonly (readonly [string, number])[] =>
  Object.entries({ ...defaultSampling, ...beyond });
const PLAIN = { ours: fieldsOf(neutralSampling), openAi: fieldsOf(neutralOpenAiSampling), served: fieldsOf({}) };

/** How the dialect says that nothing but the policy decides. A server that only serves gets nothing that it may refuse. */
function plainSampling({
  dialect,
  recoversIds,
}: {
  dialect: Dialect;
  recoversIds?: boolean;
}): readonly (readonly [string, number])[] {
  if (dialect !== 'openai') return PLAIN.ours;
  return recoversIds ? PLAIN.openAi : PLAIN.served;
}

/**
 * The request without log-probs, when the server refused it for those that only Hindcast asked for: llama.cpp has none for a
 * stream with tools (ggml-org/llama.cpp #28478). The answer is served, and is untrainable. `null` when that is not why.
 */
export function withoutLogProbs({ body, asked }: EngineRequest, status: number, refusal: string): Json | null {
  if (!asked.logProbs || status !== 400 || 'top_logprobs' in body || !refusal.includes('logprobs')) return null;
  const { logprobs: _, ...rest } = body;
  return rest;
}

/** SGLang's request fields for ids in `sglext`, and the member that each brings. */
const EXTENSION_FIELDS = {
  return_input_ids_in_sglext: 'input_ids',
  return_output_ids_in_sglext: 'output_ids',
} as const;

/**
 * The fields that ask for ids. SGLang refuses `return_token_ids` and `return_prompt_token_ids` in a stream (400) and gives the ids
 * of a stream in `sglext` alone; servers before 0.5.20 ignore that, but from 0.5.17 on they know `return_token_ids` of a whole answer.
 */
function idFieldsOf(dialect: Dialect, request: Json): readonly string[] {
  if (dialect === 'openai') return [];
  if (dialect === 'vllm') return ['return_token_ids'];
  // It brings prompt ids too, which would have to be told from those that the client asked for.
  const isExtensionAlone = request['stream'] === true || request['return_prompt_token_ids'] === true;
  return [...Object.keys(EXTENSION_FIELDS), ...(isExtensionAlone ? [] : ['return_token_ids'])];
}

const askedExtension = (request: Json): ReadonlySet<string> =>
  new Set(
    Object.entries(EXTENSION_FIELDS)
      .filter(([field]) => request[field] !== true)
      .map(([, member]) => member),
  );

/** Name under which the engine knows an adapter: SGLang picks one by `base:adapter`. */
export const engineModelName = (dialect: Dialect, base: string, adapter: string | null): string =>
  adapter === null ? base : dialect === 'sglang' ? `${base}:${adapter}` : adapter;
