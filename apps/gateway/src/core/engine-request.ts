import { defaultSampling, neutralSampling } from './off-policy';
import type { AskedFields } from './strip-fields';
import { nothingAsked } from './strip-fields';

type Json = Record<string, unknown>;
export type Dialect = 'vllm' | 'sglang' | 'openai';

export interface EngineRequest {
  readonly body: Json;
  readonly asked: AskedFields;
}

/** Fields of our own protocol; the raw session id stops here. */
const OWN_FIELDS = ['session_id', 'session_done', 'turn_type'];

/**
 * The request as the engine gets it. A captured one asks for ids, log-probs and usage, and says how to sample: a default left
 * to the engine would be whatever the model's generation config says, and could not be recorded.
 */
export function engineRequest(
  request: Json,
  options: { readonly dialect: Dialect; readonly isCaptured: boolean; readonly forceSampling: boolean },
): EngineRequest {
  const body: Json = { ...request };
  for (const field of OWN_FIELDS) delete body[field];
  if (!options.isCaptured) return { body, asked: nothingAsked };

  const extended = options.dialect !== 'openai';
  const sampling = extended ? { ...defaultSampling, ...neutralSampling } : defaultSampling;
  for (const [field, value] of Object.entries(sampling)) {
    if (options.forceSampling) body[field] = value;
    else body[field] ??= value;
  }
  if (options.forceSampling)
    for (const field of ['presence_penalty', 'frequency_penalty', 'logit_bias']) delete body[field];

  body['logprobs'] = true;
  if (extended) body['return_token_ids'] = true;
  if (options.dialect === 'sglang') body['return_prompt_token_ids'] = true;
  const streamOptions = (request['stream_options'] ?? {}) as Json;
  if (request['stream'] === true) body['stream_options'] = { ...streamOptions, include_usage: true };
  return {
    body,
    asked: {
      tokenIds: extended && request['return_token_ids'] !== true,
      logProbs: request['logprobs'] !== true,
      usage: request['stream'] === true && streamOptions['include_usage'] !== true,
    },
  };
}

/** Name under which the engine knows an adapter: SGLang picks one by `base:adapter`. */
export const engineModelName = (dialect: Dialect, base: string, adapter: string | null): string =>
  adapter === null ? base : dialect === 'sglang' ? `${base}:${adapter}` : adapter;
