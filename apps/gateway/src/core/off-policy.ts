import { Sampling, isSampling } from '@hindcast/contracts';

type Json = Record<string, unknown>;

/** OpenAI's documented defaults: what a client that says nothing asked for. */
export const defaultSampling = { temperature: 1, top_p: 1 } as const;
/** Neutral values of what only vLLM and SGLang know; a model's generation config may say otherwise. */
export const neutralSampling = { top_k: -1, min_p: 0, repetition_penalty: 1 } as const;

/**
 * Neutral values for a server of the `openai` dialect whose answers train: llama.cpp samples with top-k 40 and min-p 0.05 where
 * nobody says otherwise. 0 is every server's "no top-k"; −1 is refused by some.
 */
export const neutralOpenAiSampling = { top_k: 0, min_p: 0, repeat_penalty: 1 } as const;
/** Further samplers of llama.cpp and its kin, with the values at which each does nothing. */
const otherSamplers: Readonly<Record<string, readonly number[]>> = {
  typical_p: [1],
  mirostat: [0],
  dynatemp_range: [0],
  xtc_probability: [0],
  dry_multiplier: [0],
  top_n_sigma: [-1, 0],
};
export const samplerFields = Object.keys(otherSamplers);

/** Request fields of vLLM and SGLang with which something else than the policy at hand decides on the tokens, and their causes. */
const otherDeciders: Readonly<Record<string, string>> = {
  // An adapter of the client's choice, beside the model's name.
  lora_path: 'model',
  custom_logit_processor: 'logit-bias',
  logits_processors: 'logit-bias',
  thinking_token_budget: 'thinking-budget',
  watermark: 'watermark',
  watermarking: 'watermark',
};
const deciderFields = Object.keys(otherDeciders);

/** How the engine was told to sample; `null` when a value is not one. */
export function samplingOf(request: Json): Sampling | null {
  const number = (field: string, fallback: number | null): unknown => request[field] ?? fallback;
  const topK = number('top_k', null);
  const seed = number('seed', null);
  const sampling = {
    temperature: number('temperature', defaultSampling.temperature),
    topP: number('top_p', defaultSampling.top_p),
    topK: topK === -1 || topK === 0 ? null : topK,
    minP: number('min_p', null),
    presencePenalty: number('presence_penalty', 0),
    frequencyPenalty: number('frequency_penalty', 0),
    repetitionPenalty: number('repetition_penalty', null),
    seed: Number.isSafeInteger(seed) ? seed : null,
  };
  if (isSampling(sampling as Sampling)) return sampling as Sampling;
  const parsed = Sampling.safeParse(sampling);
  return parsed.success ? parsed.data : null;
}

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

const isNeutral = (value: unknown, neutral: readonly unknown[]): boolean =>
  value === undefined || value === null || neutral.includes(value);

/**
 * Why the engine's log-probs are not those of the policy that sampled, or `null`. An engine's raw log-probs are taken before
 * temperature, nucleus and penalties, and its processed ones are not what the trainer's model computes at T = 1: either way
 * only plain sampling is exact.
 */
export function offPolicyCause(sampling: Sampling | null, request: Json): string | null {
  if (!sampling) return 'unreadable-sampling';
  if (sampling.temperature !== 1) return 'temperature';
  if (sampling.topP !== 1) return 'top-p';
  if (sampling.topK !== null) return 'top-k';
  if (sampling.minP) return 'min-p';
  if (sampling.presencePenalty !== 0 || sampling.frequencyPenalty !== 0) return 'penalty';
  if (sampling.repetitionPenalty !== null && sampling.repetitionPenalty !== 1) return 'penalty';
  if (!isNeutral(request['repeat_penalty'], [1])) return 'penalty';
  if (samplerFields.some((field) => !isNeutral(request[field], otherSamplers[field]!))) return 'sampler';
  if (isFilled(request['logit_bias']) || isFilled(request['allowed_token_ids']) || isFilled(request['bad_words']))
    return 'logit-bias';
  if (typeof request['min_tokens'] === 'number' && request['min_tokens'] > 0) return 'min-tokens';
  if (request['use_beam_search'] === true) return 'beam-search';
  const decider = deciderFields.find((field) => !isNeutral(request[field], [false]));
  return decider === undefined ? null : otherDeciders[decider]!;
}
