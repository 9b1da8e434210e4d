/** A streamed chat completion as far as it has come. */
export interface ChatAnswer {
  readonly text: string;
  /** What a reasoning model thought before it answered; empty for others. */
  readonly reasoning: string;
  /** Model that answered, by its own word. */
  readonly model: string | null;
  readonly finishReason: string | null;
  /** `null` until the engine has counted, and where it does not. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** What the stream itself says went wrong. */
  readonly error: string | null;
  /** The end was said; without it the stream broke off. */
  readonly isComplete: boolean;
}

export const NO_ANSWER: ChatAnswer = {
  text: '',
  reasoning: '',
  model: null,
  finishReason: null,
  promptTokens: null,
  completionTokens: null,
  error: null,
  isComplete: false,
};

interface Chunk {
  readonly model?: unknown;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown; readonly reasoning_content?: unknown; readonly reasoning?: unknown };
    readonly finish_reason?: unknown;
  }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
  readonly error?: { readonly message?: unknown } | string | null;
}

/** The answer with one more `data` of the stream. */
export function withChunk(answer: ChatAnswer, data: string): ChatAnswer {
  if (data.trim() === '[DONE]') return { ...answer, isComplete: true };
  let chunk: Chunk;
  try {
    chunk = JSON.parse(data) as Chunk;
  } catch {
    return { ...answer, error: 'The stream holds something that is no JSON.' };
  }
  if (chunk.error) return { ...answer, error: errorText(chunk.error) };
  const choice = chunk.choices?.[0];
  return {
    ...answer,
    model: text(chunk.model) ?? answer.model,
    text: answer.text + (text(choice?.delta?.content) ?? ''),
    reasoning: answer.reasoning + (text(choice?.delta?.reasoning_content) ?? text(choice?.delta?.reasoning) ?? ''),
    finishReason: text(choice?.finish_reason) ?? answer.finishReason,
    promptTokens: count(chunk.usage?.prompt_tokens) ?? answer.promptTokens,
    completionTokens: count(chunk.usage?.completion_tokens) ?? answer.completionTokens,
  };
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const count = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const errorText = (error: NonNullable<Chunk['error']>): string =>
  typeof error === 'string' ? error : (text(error.message) ?? JSON.stringify(error));
