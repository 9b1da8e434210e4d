type Json = Record<string, unknown>;

/** SHA-256, in hex, of a text and of what follows it: `utf8` is a text in UTF-8. The shell passes it in. */
export type Sha256 = (text: string, utf8?: Uint8Array) => string;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A name as a text, whatever it is: `String` would call a `toString` that the JSON brings along. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : canonicalJson(value);

/** Deeper than any client writes, and short of what the stack bears. What is below counts as one and the same. */
const MAX_DEPTH = 500;

/** Key order and number spelling do not matter; array order does. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) return '"…"';
  if (Array.isArray(value)) return `[${value.map((entry) => canonicalJson(entry, depth + 1)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key], depth + 1)}`);
  return `{${members.join(',')}}`;
}

/** Tool arguments as canonical JSON; text that is not JSON as it is. */
function canonicalArguments(value: unknown): string {
  if (typeof value !== 'string') return canonicalJson(value ?? {});
  try {
    return value.trim() === '' ? '{}' : canonicalJson(JSON.parse(value));
  } catch {
    return value.trim();
  }
}

/** Content parts in which clients keep an answer's thinking. */
const THINKING_PARTS = new Set(['reasoning', 'thinking', 'redacted_thinking', 'reasoning_content']);

/** Text of a message's content, less its thinking. A part that is not text keeps its place as canonical JSON. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => {
      if (typeof part === 'string') return part;
      if (isObject(part) && THINKING_PARTS.has(textOf(part['type']))) return '';
      if (isObject(part) && typeof part['text'] === 'string') return part['text'];
      if (isObject(part) && typeof part['refusal'] === 'string') return part['refusal'];
      return canonicalJson(part);
    })
    .join('');
}

const THINKING_END = '</think>';

/** Chat templates and clients drop an answer's thinking from the history; so does the canonical form. */
function withoutThinking(text: string): string {
  const end = text.lastIndexOf(THINKING_END);
  return end < 0 ? text : text.slice(end + THINKING_END.length);
}

/**
 * What makes two spellings of a message the same message, as a text; `null` for a message that does not count.
 * Left out: system and developer messages, reasoning, tool-call ids, outer white space.
 */
export function canonicalMessage(message: Json): string | null {
  if (isInstruction(message)) return null;
  const isAnswer = message['role'] === 'assistant';
  const raw = contentText(message['content']);
  const text =
    (isAnswer ? withoutThinking(raw) : raw).trim() || (isAnswer ? contentText(message['refusal']).trim() : '');
  // The text as it is: to write a long one as JSON would take longer than to hash it.
  return canonicalHead(message) + text;
}

/** A message that stands around the conversation. */
export const isInstruction = ({ role }: Json): boolean => role === 'system' || role === 'developer';

/** What stands before the text in the canonical form: a line of JSON, which has no line end. */
export function canonicalHead(message: Json): string {
  const role = message['role'];
  const calls: [string, string][] = [];
  for (const call of Array.isArray(message['tool_calls']) ? message['tool_calls'] : []) {
    const target = isObject(call) ? (call['function'] ?? call['custom']) : null;
    if (isObject(target))
      calls.push([textOf(target['name']), canonicalArguments(target['arguments'] ?? target['input'])]);
  }
  const legacy = message['function_call'];
  if (isObject(legacy)) calls.push([textOf(legacy['name']), canonicalArguments(legacy['arguments'])]);
  return `${JSON.stringify([role === 'function' ? 'tool' : role, calls])}\n`;
}

/** Keys of answers that are being written down: who remembers an answer and who opens its turn both need it. */
const keys = new WeakMap<Json, { readonly conversation: string; readonly key: string }>();

/** Hash of the conversation up to and including the answer, which does not change any more: the key of its open turn. */
export function openTurnKey(conversation: string, answer: Json, sha256: Sha256): string {
  const known = keys.get(answer);
  if (known?.conversation === conversation) return known.key;
  const key = sha256(`${conversation}\n${canonicalMessage({ ...answer, role: 'assistant' })}`);
  keys.set(answer, { conversation, key });
  return key;
}

/** How far back a request is searched for an answer that is still open. */
const SEARCHED_POSITIONS = 4;

/** Indices of the last assistant messages that something follows, newest first. */
export function answerPositions(messages: readonly Json[]): number[] {
  const positions: number[] = [];
  for (let index = messages.length - 2; index >= 0 && positions.length < SEARCHED_POSITIONS; index--) {
    if (messages[index]!['role'] === 'assistant') positions.push(index);
  }
  return positions;
}
