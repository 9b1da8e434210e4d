import { z } from 'zod';
import {
  check,
  generationFields,
  generationRequest,
  MAX_LOG_PROBS,
  parseBody,
  type GenerationRequest,
} from './generation-fields';

const tokenIds = z.array(z.number().int());
const CompletionBody = z.looseObject({
  ...generationFields,
  prompt: z.union([z.string(), tokenIds.min(1), z.array(z.string()).min(1), z.array(tokenIds.min(1)).min(1)]),
  logprobs: z.number().int().nullish(),
  echo: z.boolean().nullish(),
  suffix: z.string().nullish(),
  add_special_tokens: z.boolean().nullish(),
});

/** vLLM's and OpenAI's default of `max_tokens` for completions. */
const DEFAULT_MAX_TOKENS = 16;

export interface CompletionRequest extends GenerationRequest {
  readonly prompts: readonly (string | readonly number[])[];
  readonly addSpecialTokens: boolean;
  readonly echo: boolean;
  readonly maxTokens: number;
  /** How many of the most likely tokens to give with each log-probability; null: no log-probabilities. */
  readonly top: number | null;
  /** The same for the prompt's tokens, when they are echoed. */
  readonly echoTop: number | null;
}

/** Reads the body of `/v1/completions`. `max_tokens: 0` only reads the prompt. */
export function parseCompletionRequest(body: unknown): CompletionRequest {
  const fields = parseBody(CompletionBody, body);
  const { logprobs: top, echo } = fields;
  check(top == null || top >= 0, 'logprobs', '`logprobs` must be a positive value.');
  check(
    top == null || top <= MAX_LOG_PROBS,
    'logprobs',
    `Requested sample logprobs of ${top}, which is greater than max allowed: ${MAX_LOG_PROBS}`,
  );
  check(!fields.suffix, 'suffix', 'suffix is not currently supported');
  const maxTokens = fields.max_tokens ?? DEFAULT_MAX_TOKENS;
  check(maxTokens >= 0, 'max_tokens', `max_tokens must be at least 0, got ${maxTokens}.`);
  const request = generationRequest(fields);
  check(
    !(echo && top != null && request.stream),
    'echo',
    'This engine does not stream the log-probabilities of an echo.',
  );
  return {
    ...request,
    prompts: promptList(fields.prompt),
    addSpecialTokens: fields.add_special_tokens ?? true,
    echo: echo ?? false,
    maxTokens,
    top: top ?? null,
    echoTop: echo ? (top ?? null) : null,
  };
}

function promptList(prompt: z.infer<typeof CompletionBody>['prompt']): (string | number[])[] {
  if (typeof prompt === 'string') return [prompt];
  return isTokenIds(prompt) ? [prompt] : prompt;
}

function isTokenIds(prompt: readonly unknown[]): prompt is number[] {
  return typeof prompt[0] === 'number';
}
