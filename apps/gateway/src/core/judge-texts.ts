import type { TextMessage } from '@hindcast/contracts';

type Json = Record<string, unknown>;

/** Characters of a single message that the judge is shown. */
const MESSAGE_CHARS = 8_000;
/** Characters of the conversation before the answer. */
const CONVERSATION_CHARS = 24_000;
/** Characters of all next-state messages; they are cut evenly. */
const NEXT_STATE_CHARS = 96_000;
const SMALLEST_CUT = 200;
/** Messages on either side of the answer; a mark says how many more there were. */
const MESSAGES = 256;
/** Longer than any engine allows the name of a tool to be. */
const TOOL_NAME_CHARS = 128;
/** All texts of a pair as JSON: what a message of the bus and a record of the store can hold besides the rest. */
const PAIR_BYTES = 256 * 1024;
/** Bytes of JSON that a character of text can take: a control character is escaped. */
const WORST_BYTES_PER_CHAR = 6;
/** Bytes of JSON of a message without its texts, and some to spare. */
const MESSAGE_BYTES = 64;

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
    parts.push(`[tool call] ${nameText(target['name'])}(${typeof input === 'string' ? input : JSON.stringify(input)})`);
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
  return { role, text: cutMiddle(messageText(message), limit), toolName: isResult ? boundedName(name) : null };
}

function boundedName(name: string | undefined): string | null {
  if (name === undefined || name.length <= TOOL_NAME_CHARS) return name ?? null;
  return `${name.slice(0, headEnd(name, TOOL_NAME_CHARS))}…`;
}

export interface PairTexts {
  readonly conversation: TextMessage[];
  readonly answer: string;
  readonly nextState: TextMessage[];
}

/**
 * The bounded texts of a pair: the end of the conversation before the answer at `index`, the answer, and what follows it. What is
 * left out is said in a mark: how many characters within a text, how many messages at the head of the one that comes after them.
 */
export function pairTexts(messages: readonly Json[], index: number): PairTexts {
  const names = toolNames(messages);
  let share = 1;
  let texts = sharedTexts(messages, index, names, share);
  // Text that is escaped or not Latin takes more bytes than it has characters.
  while (!isWithin(texts, PAIR_BYTES) && share > 1 / 16) texts = sharedTexts(messages, index, names, (share /= 2));
  return texts;
}

function sharedTexts(
  messages: readonly Json[],
  index: number,
  names: ReadonlyMap<Json, string>,
  share: number,
): PairTexts {
  return {
    conversation: conversationBefore(messages, index, names, share),
    answer: cutMiddle(messageText(messages[index]!), 2 * MESSAGE_CHARS * share),
    nextState: stateAfter(messages, index, names, share),
  };
}

function conversationBefore(
  messages: readonly Json[],
  index: number,
  names: ReadonlyMap<Json, string>,
  share: number,
): TextMessage[] {
  const newestFirst: TextMessage[] = [];
  let left = CONVERSATION_CHARS * share;
  let position = index;
  while (position > 0 && left > 0 && newestFirst.length < MESSAGES) {
    const limit = Math.min(MESSAGE_CHARS * share, Math.max(left, SMALLEST_CUT));
    const message = toTextMessage(messages[--position]!, names, limit);
    newestFirst.push(message);
    left -= message.text.length;
  }
  const [first, ...rest] = newestFirst.reverse();
  return first ? [withMissing(first, position), ...rest] : [];
}

/** Where there are too many, the first and the last of them: what was answered to, and what was said in the end. */
function stateAfter(
  messages: readonly Json[],
  index: number,
  names: ReadonlyMap<Json, string>,
  share: number,
): TextMessage[] {
  const missing = Math.max(0, messages.length - (index + 1) - MESSAGES);
  const gap = index + 1 + MESSAGES / 2;
  const kept = messages
    .slice(index + 1, missing ? gap : undefined)
    .concat(missing ? messages.slice(gap + missing) : []);
  const even = Math.floor((NEXT_STATE_CHARS * share) / Math.max(1, kept.length));
  const limit = Math.max(SMALLEST_CUT * share, Math.min(MESSAGE_CHARS * share, even));
  const texts = kept.map((message) => toTextMessage(message, names, limit));
  return missing ? texts.map((text, at) => (at === MESSAGES / 2 ? withMissing(text, missing) : text)) : texts;
}

const withMissing = (message: TextMessage, count: number): TextMessage =>
  count === 0 ? message : { ...message, text: `[… ${count} messages left out …]\n${message.text}` };

function isWithin(texts: PairTexts, bytes: number): boolean {
  const all = [...texts.conversation, ...texts.nextState];
  const chars = all.reduce((sum, { text, toolName }) => sum + text.length + (toolName?.length ?? 0), 0);
  const most = WORST_BYTES_PER_CHAR * (chars + texts.answer.length) + MESSAGE_BYTES * all.length;
  return most <= bytes || new TextEncoder().encode(JSON.stringify(texts)).length <= bytes;
}

/** A name that is no text is shown as JSON: `String` would call a `toString` that it brings along. */
const nameText = (name: unknown): string =>
  typeof name === 'string' ? name : name == null ? '' : JSON.stringify(name);
