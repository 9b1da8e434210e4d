import { refusal as refuse, type Refusal } from './refusal';
import type { TokenEntry } from './token-entry';
import { byteString, textBytes, type ByteString, type Vocabulary } from './vocabulary';

type Message = Readonly<Record<string, unknown>>;

/** An answer of a server that gives log-probs and bytes, but no ids. */
export interface ShownAnswer {
  /** Entries of `logprobs.content`, in order. */
  readonly tokens: readonly TokenEntry[];
  readonly message: Message;
  /** The engine ended the answer by itself: `stop` or `tool_calls`, and the request named no stop texts. */
  readonly endedByModel: boolean;
  /** `usage.completion_tokens`; `null` where several answers share it, and whoever knows them all checks it. */
  readonly countedTokens: number | null;
}

export interface RecoveredIds {
  readonly ids: readonly number[];
  /** 1 where the server counts an end token that it does not show. */
  readonly hiddenTokens: 0 | 1;
}

/** U+FFFD in UTF-8: what a server writes for half a character. Its bytes say nothing of the token's. */
const REPLACEMENT: ByteString = '\xEF\xBF\xBD';
const BEYOND_ASCII = /[\x80-\xFF]/;
const SPACE = ' ';

/**
 * The sampled ids behind the tokens that a server shows, or why they cannot be known. Nothing is guessed: bytes that no
 * entry or several have, half characters, tokens that do not make up the answer's text, and a count that is not the server's
 * own are refused.
 */
export function recoverIds(answer: ShownAnswer, vocabulary: Vocabulary): RecoveredIds | Refusal {
  const ids: number[] = [];
  for (const [position, entry] of answer.tokens.entries()) {
    const id = idOf(entry, vocabulary);
    if (typeof id !== 'number') return { ...id, detail: `token ${position}: ${id.detail}` };
    ids.push(id);
  }
  return textRefusal(answer, ids, vocabulary) ?? counted(answer, ids, vocabulary);
}

function idOf(entry: TokenEntry, vocabulary: Vocabulary): number | Refusal {
  const shown = entry.bytes ? byteString(entry.bytes) : entry.token === null ? null : textBytes(entry.token);
  if (entry.id !== null) return givenId(entry.id, shown, vocabulary);
  if (shown === null || shown === '') return refuse('no-token-ids', 'neither bytes nor text');
  if (shown.includes(REPLACEMENT)) return refuse('ambiguous-tokens', 'U+FFFD instead of its bytes');
  const id = vocabulary.idOf(shown);
  if (id === null) return refuse('no-token-ids', 'no token of the vocabulary has its bytes');
  if (id === 'several') return refuse('ambiguous-tokens', 'several tokens of the vocabulary have its bytes');
  return id;
}

/** llama.cpp gives ids, shows no bytes of a special token, and puts several tokens' bytes into one entry when only together they are text. */
function givenId(id: number, shown: ByteString | null, vocabulary: Vocabulary): number | Refusal {
  const bytes = vocabulary.bytesOf(id);
  if (bytes === null) return refuse('no-token-ids', `the vocabulary has no id ${id}`);
  if (shown === bytes || (shown === '' && vocabulary.isSpecial(id))) return id;
  return refuse('ambiguous-tokens', `its bytes are not those of id ${id}`);
}

/** Whether the tokens make up the text. A message of content alone is their bytes exactly; of one with reasoning or tool calls the parts are among them. */
function textRefusal(answer: ShownAnswer, ids: readonly number[], vocabulary: Vocabulary): Refusal | null {
  const { message, tokens } = answer;
  const all = joined(ids, vocabulary);
  const isPlain = isContentAlone(message);
  const content = textBytes(typeof message['content'] === 'string' ? message['content'] : '');
  if (isPlain) {
    const ordinary = ids.filter((id) => !vocabulary.isSpecial(id));
    const isLastSpecial = vocabulary.isSpecial(ids.at(-1)!);
    const possible = [joined(ordinary, vocabulary), all, joined(isLastSpecial ? ids.slice(0, -1) : ids, vocabulary)];
    if (!possible.includes(content)) return refuse('ambiguous-tokens', "the tokens are not the answer's text");
  } else if (!spokenParts(message).every((part) => all.includes(textBytes(part.trim())))) {
    return refuse('ambiguous-tokens', 'a part of the answer is not among its tokens');
  }
  if (vocabulary.decoding === 'exact' || tokens.every(({ id }) => id !== null)) return null;
  if (!isPlain) return refuse('ambiguous-tokens', 'a token alone may be shown without its space');
  // Where spaces are stripped no token after the first begins with one, and yet they make up the text of one word only.
  if (vocabulary.decoding === 'spaces-stripped' && !ids.slice(1).some((id) => vocabulary.bytesOf(id)![0] === SPACE))
    return refuse('ambiguous-tokens', 'the first token may be shown without its space');
  return null;
}

const joined = (ids: readonly number[], vocabulary: Vocabulary): ByteString =>
  ids.map((id) => vocabulary.bytesOf(id)).join('');

const partsOf = (message: Message, fields: readonly string[]): string[] =>
  fields.map((field) => message[field]).filter((text): text is string => typeof text === 'string' && text !== '');

function callsOf(message: Message): Message[] {
  const calls = Array.isArray(message['tool_calls']) ? (message['tool_calls'] as unknown[]) : [];
  const functions = [...calls.map((call) => (call as Message | null)?.['function']), message['function_call']];
  return functions.filter((call): call is Message => typeof call === 'object' && call !== null);
}

const isContentAlone = (message: Message): boolean =>
  partsOf(message, ['reasoning_content', 'reasoning', 'refusal']).length + callsOf(message).length === 0;

const spokenParts = (message: Message): string[] => [
  ...partsOf(message, ['content', 'reasoning_content', 'reasoning', 'refusal']),
  ...callsOf(message).flatMap((call) => partsOf(call, ['name'])),
];

/**
 * Every token that the server counted is there. Ollama, and llama.cpp in streams, count the end token and give neither it nor its
 * log-prob: one more, when the model ended the answer. It is left out, not made up. Only where the tokens are the whole text
 * can the missing one be nothing else; and a server without ids that puts the pieces of one character together would look
 * the same, so that no token may be beyond ASCII then.
 */
function counted(answer: ShownAnswer, ids: readonly number[], vocabulary: Vocabulary): RecoveredIds | Refusal {
  const missing = answer.countedTokens === null ? 0 : answer.countedTokens - ids.length;
  if (missing === 0) return { ids, hiddenTokens: 0 };
  const mayHideItsEnd =
    missing === 1 &&
    answer.endedByModel &&
    isContentAlone(answer.message) &&
    !vocabulary.isSpecial(ids.at(-1)!) &&
    ids.every((id, i) => answer.tokens[i]!.id !== null || !BEYOND_ASCII.test(vocabulary.bytesOf(id)!));
  if (mayHideItsEnd) return { ids, hiddenTokens: 1 };
  return refuse('length-mismatch', `${ids.length} tokens shown, usage says ${answer.countedTokens}`);
}

/**
 * The prompt ids of the right length. A template that names no beginning-of-sequence mark is encoded with and without the
 * tokenizer's own marks, because servers differ in it; the server's count tells which it was.
 */
export function choosePromptIds(
  candidates: Iterable<readonly number[]>,
  countedTokens: number,
): { readonly promptIds: readonly number[] } | Refusal {
  const lengths: number[] = [];
  for (const promptIds of candidates) {
    if (promptIds.length === countedTokens) return { promptIds };
    lengths.push(promptIds.length);
  }
  return refuse('prompt-mismatch', `${lengths.join(' or ')} prompt ids, usage says ${countedTokens}`);
}

/** Whether the model ended the answer by itself: nothing that the request forbade cut it off. */
export function endedByModel({ finishReason }: { finishReason: string | null }, request: Message): boolean {
  const { stop } = request;
  const hasStops = Array.isArray(stop) ? stop.length > 0 : stop !== undefined && stop !== null;
  return !hasStops && (finishReason === 'stop' || finishReason === 'tool_calls');
}

/**
 * llama.cpp does not score the tokens that a draft model proposed: it writes probability 1, and leaves out the alternatives
 * that every scored token has. That is no log-prob.
 */
export function unscoredRefusal(tokens: readonly TokenEntry[], logProbs: readonly number[] | null): Refusal | null {
  if (!tokens.some(({ hasAlternatives }) => hasAlternatives)) return null;
  const position = tokens.findIndex(({ hasAlternatives }, i) => !hasAlternatives && logProbs?.[i] === 0);
  return position < 0 ? null : refuse('no-log-probs', `token ${position}: not scored`);
}
