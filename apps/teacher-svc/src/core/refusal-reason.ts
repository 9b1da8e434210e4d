import type { RefusalReason } from './teacher-refusal';

/**
 * How engines say that prompt and answer are longer than the model's positions: vLLM "maximum context length is", "longer than the
 * maximum model length"; SGLang "longer than the model's context length".
 */
const TOO_LONG = /maximum context length|maximum model length|model's context length|max_model_len/i;

/** Why a request with status 4xx was refused, from the engine's error in OpenAI's or in SGLang's flat shape. */
export function refusalReason(body: unknown): RefusalReason {
  return TOO_LONG.test(errorMessage(body)) ? 'too-long' : 'refused-by-engine';
}

/** The engine's own words; empty when there are none. They may quote the prompt. */
export function errorMessage(body: unknown): string {
  if (typeof body !== 'object' || body === null) return '';
  const { error, message } = body as { error?: unknown; message?: unknown };
  if (typeof error === 'string') return error;
  if (typeof error === 'object' && error !== null) return errorMessage(error);
  return typeof message === 'string' ? message : '';
}

/** Whether JSON text was broken by numbers that are none, as Python's `json` writes them (THUDM/slime#1790). */
export const hasNonFiniteNumber = (text: string): boolean => /[[,:]\s*-?(NaN|Infinity)\s*[,\]}]/.test(text);
