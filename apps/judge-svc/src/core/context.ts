import type { BodyOf, TextMessage } from '@hindcast/contracts';
import { divide } from './context-shares';
import { cutMiddle, estimateTokens, joinCut, weigh, type Shown } from './context-tokens';
import { defuseAll, quoteName } from './quote';

type PairedTurn = BodyOf<'turnPaired'>;

/** A message as a judge is shown it. */
export interface QuotedMessage {
  /** Role, the name of the tool, and whether it is what the answer answers. */
  readonly head: string;
  readonly text: string;
  /** Messages left out right before this one. */
  readonly leftOutBefore: number;
}

/** The texts of a turn, defused and cut to a number of tokens. */
export interface QuotedTurn {
  /** Oldest first, the request among them. */
  readonly conversation: readonly QuotedMessage[];
  readonly answer: string;
  readonly nextState: readonly QuotedMessage[];
}

/** Shares of the budget. What one does not need goes to the others. */
const WEIGHTS = { answer: 35, nextState: 35, request: 15, history: 15 } as const;
/** Tokens of a head's random mark with brackets and line ends. */
const HEAD_TOKENS = 28;
/** Tokens of a line that says how many messages were left out. */
const LEFT_OUT_TOKENS = 20;
/** A message of which less could be shown is left out instead, tokens. */
const SMALLEST_CUT = 64;

/**
 * What a judge is shown of a turn within `budget` tokens (`estimateTokens`, heads included): the answer, everything after it, the
 * user's request, which is always there, and what fits of the rest of the conversation. Of a text that is too long both ends stay.
 */
export function quoteTurn(turn: PairedTurn, budget: number): QuotedTurn {
  const parts = readParts(turn);
  const { answer, request, history, nextState } = parts;
  const [answerShare, nextShare, requestShare, historyShare] = divide(budget, [
    { need: answer.need, weight: WEIGHTS.answer },
    { need: needOf(nextState), weight: WEIGHTS.nextState },
    { need: needOf(request), weight: WEIGHTS.request },
    { need: needOf(history), weight: WEIGHTS.history },
  ]) as [number, number, number, number];
  const shown = new Map<Part, Shown>([
    [answer, shownWithin(answer, answerShare)],
    ...fit(nextState, nextShare),
    ...fit(request, requestShare),
    ...fit(history, historyShare),
  ]);
  const texts = joined([...parts.conversation, answer, ...nextState], shown);
  return {
    conversation: messages(parts.conversation, texts),
    answer: texts.get(answer)!,
    nextState: messages(nextState, texts),
  };
}

interface Part {
  readonly head: string;
  readonly headTokens: number;
  /** Defused, whole. */
  readonly text: string;
  /** `weigh` of the text. */
  readonly weight: number;
  /** Tokens to show it whole, its head included. */
  readonly need: number;
}

function readParts(turn: PairedTurn) {
  const texts = defuseAll([...turn.conversation, { text: turn.answer }, ...turn.nextState].map(({ text }) => text));
  const requestAt = turn.conversation.findLastIndex(({ role }) => role === 'user');
  const conversation = turn.conversation.map((message, i) => part(headOf(message, i === requestAt), texts[i]!));
  const afterAnswer = conversation.length + 1;
  return {
    conversation,
    request: conversation.filter((_, i) => i === requestAt),
    history: conversation.filter((_, i) => i !== requestAt),
    answer: part('', texts[conversation.length]!),
    nextState: turn.nextState.map((message, i) => part(headOf(message, false), texts[afterAnswer + i]!)),
  };
}

function part(head: string, text: string): Part {
  const headTokens = head === '' ? 0 : estimateTokens(head) + HEAD_TOKENS;
  const weight = weigh(text);
  return { head, headTokens, text, weight, need: Math.ceil(weight) + headTokens };
}

function headOf({ role, toolName }: TextMessage, isRequest: boolean): string {
  const name = toolName === null ? '' : quoteName(toolName);
  return `${role}${name === '' ? '' : ` ${name}`}${isRequest ? ' (the request)' : ''}`;
}

const needOf = (parts: readonly Part[]): number => parts.reduce((sum, { need }) => sum + need, 0);

/** What is shown of each message within `budget`; a message that is not among them is left out. */
function fit(parts: readonly Part[], budget: number): [Part, Shown][] {
  const { kept, left } = choose(parts, budget);
  const shares = divide(
    left,
    kept.map(({ need }) => ({ need, weight: 1 })),
  );
  return kept.map((part, i) => [part, shownWithin(part, shares[i]!)]);
}

const shownWithin = (part: Part, share: number): Shown =>
  part.need <= share ? [part.text] : cutMiddle(part.text, share - part.headTokens, part.weight);

/** All messages where each can show something, else the last, the first, and as many of the newest as fit. */
function choose(parts: readonly Part[], budget: number): { kept: Part[]; left: number } {
  const least = (part: Part): number => Math.min(part.need, part.headTokens + SMALLEST_CUT);
  if (parts.reduce((sum, part) => sum + least(part), 0) <= budget) return { kept: [...parts], left: budget };
  const left = budget - LEFT_OUT_TOKENS;
  const [first, ...rest] = parts;
  const last = rest.pop();
  const kept = new Set<Part>();
  let spent = 0;
  for (const part of [last, first, ...rest.reverse()]) {
    if (part === undefined) continue;
    if (kept.size > 0 && spent + least(part) > left) break;
    kept.add(part);
    spent += least(part);
  }
  return { kept: parts.filter((part) => kept.has(part)), left };
}

/** The texts as they are shown. What a cut or a gap brought together may make a mark: it is defused once more, as one. */
function joined(all: readonly Part[], shown: ReadonlyMap<Part, Shown>): Map<Part, string> {
  const parts = all.filter((part) => shown.has(part));
  const kept = parts.flatMap((part) => [...shown.get(part)!]);
  const isWhole = parts.length === all.length && kept.length === parts.length;
  const ends = isWhole ? kept : defuseAll(kept);
  const texts = new Map<Part, string>();
  let at = 0;
  for (const part of parts) {
    const before = shown.get(part)!;
    const after = ends.slice(at, (at += before.length)) as unknown as Shown;
    texts.set(part, joinCut(after, before.length === 1 ? 0 : codePointsBetween(part.text, before)));
  }
  return texts;
}

/** Characters of a text of whole characters that neither of its two ends shows. */
function codePointsBetween(text: string, [head, tail]: readonly [string, string]): number {
  let count = 0;
  for (let at = head.length; at < text.length - tail.length; at++) if (!isLowSurrogate(text.charCodeAt(at))) count++;
  return count;
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

function messages(parts: readonly Part[], texts: ReadonlyMap<Part, string>): QuotedMessage[] {
  const quoted: QuotedMessage[] = [];
  let leftOutBefore = 0;
  for (const part of parts) {
    const text = texts.get(part);
    if (text === undefined) {
      leftOutBefore++;
      continue;
    }
    quoted.push({ head: part.head, text, leftOutBefore });
    leftOutBefore = 0;
  }
  return quoted;
}
