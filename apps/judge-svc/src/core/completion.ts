/** What a vote needs of a chat completion. */
export interface Completion {
  /** Text of the first choice; empty when there is none, as when all of it was reasoning. */
  readonly text: string;
  /** The judge ran into `max_tokens`. */
  readonly cut: boolean;
  /** `null` where the server does not count. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
}

/**
 * Reads the body of a chat completion (OpenAI's `POST /chat/completions`, not streamed). Content may be text, parts of text, or null.
 * `reasoning_content` and `reasoning`, where servers put what a model thought, are not read.
 * @returns `null` when it is none: no JSON, no choice, an event stream, an error under status 200
 */
export function readCompletion(body: string): Completion | null {
  const completion = parsed(body);
  const choice = record(first(record(completion)?.['choices']));
  const message = record(choice?.['message']);
  if (!choice || !message) return null;
  const text = textOf(message['content']);
  if (text === null) return null;
  const usage = record(record(completion)?.['usage']);
  return {
    text,
    cut: choice['finish_reason'] === 'length',
    promptTokens: count(usage?.['prompt_tokens']),
    completionTokens: count(usage?.['completion_tokens']),
  };
}

function textOf(content: unknown): string | null {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  let text = '';
  for (const part of content) {
    const piece = record(part)?.['text'];
    if (typeof piece === 'string') text += piece;
  }
  return text;
}

const first = (value: unknown): unknown => (Array.isArray(value) ? (value as unknown[])[0] : undefined);

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

const count = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
