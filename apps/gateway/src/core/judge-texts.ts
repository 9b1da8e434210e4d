import type { TextMessage } from '@hindcast/contracts';

type Json = Record<string, unknown>;

/** Characters of a single message that the judge is shown. */
const MESSAGE_CHARS = 8_000;
/** Characters of the conversation before the answer. */
const CONVERSATION_CHARS = 24_000;
/** Characters of all next-state messages; they are cut evenly, none is left out. */
const NEXT_STATE_CHARS = 96_000;
const SMALLEST_CUT = 200;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text of at most about `limit` characters: its beginning and its end, with a mark that says how much is missing. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = headEnd(text, Math.ceil(limit / 2));
  const tail = tailStart(text, text.length - Math.floor(limit / 2));
  return `${text.slice(0, head)}\n[… ${tail - head} characters cut …]\n${text.slice(tail)}`;
}

// Never between the halves of a surrogate pair.
const headEnd = (text: string, at: number): number => (isLowSurrogate(text, at) ? at - 1 : at);
const tailStart = (text: string, at: number): number => (isLowSurrogate(text, at) ? at + 1 : at);
const isLowSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return '';
  if (typeof part['text'] === 'string') return part['text'];
  return `[${typeof part['type'] === 'string' ? part['type'] : 'part'}]`;
}

/** Everything a message says: its text, then its tool calls one a line. */
export function messageText(message: Json): string {
  const { content } = message;
  const parts = [
    typeof content === 'string' ? content : Array.isArray(content) ? content.map(partText).join('\n') : '',
  ];
  if (typeof message['refusal'] === 'string') parts.push(message['refusal']);
  const calls: unknown[] = Array.isArray(message['tool_calls']) ? [...message['tool_calls']] : [];
  if (isObject(message['function_call'])) calls.push({ function: message['function_call'] });
  for (const call of calls) {
    const target = isObject(call) ? (call['function'] ?? call['custom']) : null;
    if (!isObject(target)) continue;
    const input = target['arguments'] ?? target['input'] ?? '';
    parts.push(
      `[tool call] ${String(target['name'] ?? '')}(${typeof input === 'string' ? input : JSON.stringify(input)})`,
    );
  }
  return parts.filter((part) => part !== '').join('\n');
}

/** The name of the tool that each result is of: by its call's id, or, where the client dropped the ids, by its place among the results. */
function toolNames(messages: readonly Json[]): ReadonlyMap<Json, string> {
  const names = new Map<Json, string>();
  const byId = new Map<string, string>();
  let called: readonly (string | null)[] = [];
  let results = 0;
  for (const message of messages) {
    const { tool_calls: calls, tool_call_id: id, role } = message;
    if (role === 'assistant') {
      const named = (Array.isArray(calls) ? calls : []).map(namedCall);
      for (const call of named) if (call.id !== null && call.name !== null) byId.set(call.id, call.name);
      called = named.map(({ name }) => name);
      results = 0;
    } else if (role === 'tool') {
      const name = typeof id === 'string' ? byId.get(id) : called[results];
      if (name) names.set(message, name);
      results += 1;
    }
  }
  return names;
}

function namedCall(call: unknown): { readonly id: string | null; readonly name: string | null } {
  if (!isObject(call)) return { id: null, name: null };
  const target = call['function'] ?? call['custom'];
  const name = isObject(target) ? target['name'] : null;
  return {
    id: typeof call['id'] === 'string' ? call['id'] : null,
    name: typeof name === 'string' ? name : null,
  };
}

function toTextMessage(message: Json, names: ReadonlyMap<Json, string>, limit: number): TextMessage {
  const role = message['role'] as TextMessage['role'];
  const isResult = role === 'tool' || role === 'function';
  const name = typeof message['name'] === 'string' ? message['name'] : names.get(message);
  return { role, text: cutMiddle(messageText(message), limit), toolName: isResult ? (name ?? null) : null };
}

export interface PairTexts {
  readonly conversation: TextMessage[];
  readonly answer: string;
  readonly nextState: TextMessage[];
}

/** The bounded texts of a pair: the end of the conversation before the answer at `index`, the answer, and all that follows it. */
export function pairTexts(messages: readonly Json[], index: number): PairTexts {
  const names = toolNames(messages);
  const conversation: TextMessage[] = [];
  let left = CONVERSATION_CHARS;
  for (let position = index - 1; position >= 0 && left > 0; position--) {
    const message = toTextMessage(messages[position]!, names, Math.min(MESSAGE_CHARS, Math.max(left, SMALLEST_CUT)));
    conversation.unshift(message);
    left -= message.text.length;
  }
  const following = messages.slice(index + 1);
  const share = Math.max(
    SMALLEST_CUT,
    Math.min(MESSAGE_CHARS, Math.floor(NEXT_STATE_CHARS / Math.max(1, following.length))),
  );
  return {
    conversation,
    answer: cutMiddle(messageText(messages[index]!), 2 * MESSAGE_CHARS),
    nextState: following.map((message) => toTextMessage(message, names, share)),
  };
}
