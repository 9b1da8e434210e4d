/** What one event of a streamed chat completion adds. */
export interface ChatDelta {
  readonly text: string;
  readonly finishReason: string | null;
  readonly responseId: string | null;
  readonly model: string | null;
  readonly isLast: boolean;
}

/**
 * Reads the data of one server-sent event of `POST /v1/chat/completions`.
 *
 * @throws Error with what the gateway says of a stream that broke
 */
export function readChatEvent(data: string): ChatDelta {
  if (data.trim() === '[DONE]') return { ...NOTHING, isLast: true };
  const event = JSON.parse(data) as {
    id?: unknown;
    model?: unknown;
    error?: { message?: unknown };
    choices?: { delta?: { content?: unknown }; finish_reason?: unknown }[];
  };
  if (event.error) throw new Error(`the answer broke off: ${String(event.error.message ?? 'without a reason')}`);
  const [choice] = event.choices ?? [];
  return {
    text: stringOf(choice?.delta?.content) ?? '',
    finishReason: stringOf(choice?.finish_reason),
    responseId: stringOf(event.id),
    model: stringOf(event.model),
    isLast: false,
  };
}

const NOTHING: ChatDelta = { text: '', finishReason: null, responseId: null, model: null, isLast: false };
const stringOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** What a person typed at the prompt. */
export type ChatInput =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'feedback'; readonly reward: -1 | 0 | 1; readonly correction: string }
  | { readonly kind: 'new' | 'quit' | 'help' | 'nothing' };

/** A line that begins with a slash is a word to the program; two slashes begin a message that starts with one. */
export function readChatInput(line: string): ChatInput {
  const text = line.trim();
  if (text === '') return { kind: 'nothing' };
  if (text.startsWith('//')) return { kind: 'message', text: text.slice(1) };
  if (!text.startsWith('/')) return { kind: 'message', text };
  const [word, rest] = splitAtSpace(text.slice(1));
  if (word === 'good') return { kind: 'feedback', reward: 1, correction: rest };
  if (word === 'bad') return { kind: 'feedback', reward: -1, correction: rest };
  if (word === 'new') return { kind: 'new' };
  return word === 'quit' || word === 'exit' ? { kind: 'quit' } : { kind: 'help' };
}

function splitAtSpace(text: string): [string, string] {
  const at = text.indexOf(' ');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1).trim()];
}
