import { parseEvalVote, parseHintVote, withoutThinking } from '@hindcast/advantage';
import type { EvalVote, HintVote } from '@hindcast/contracts';
import type { Loss } from './deadline';
import { parseStructured } from './structured';

/** A judge is asked for a score, or for a hint. */
export type VoteKind = 'eval' | 'hint';

/** How a reply may carry its decision: `json` only, `boxed` only, or `either` when the server may not know the schema. */
export type VoteForm = 'json' | 'boxed' | 'either';

/** A judge's reply to one vote, or why there is none. */
export interface Reply {
  readonly text: string;
  readonly failed: Loss | null;
  /** The deadline cut a request off: the judge may have worked on it. */
  readonly cutOff: boolean;
  readonly form: VoteForm;
  /** The judge ran into `max_tokens`. */
  readonly cut: boolean;
  readonly latencyMs: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Requests that were sent for it, retries included. */
  readonly calls: number;
}

/** Money per million tokens. */
export interface Prices {
  readonly prompt: number;
  readonly completion: number;
}

/** What a reply decides, and in which form it said so; `null` where it says nothing that can be read. */
export interface Decision {
  readonly score: -1 | 0 | 1 | null;
  readonly hint: string;
  readonly saidAs: 'json' | 'boxed' | null;
}

const UNREADABLE: Decision = { score: null, hint: '', saidAs: null };

/** Reads a reply. What a reasoning model thought is no part of its decision. */
export function readDecision(
  kind: VoteKind,
  { text, form, failed }: Pick<Reply, 'text' | 'form' | 'failed'>,
): Decision {
  if (failed) return UNREADABLE;
  // The whole text first: a reply that is held to the schema may well speak of <think> in its reasoning.
  const whole = form === 'boxed' ? null : parseStructured(kind, text.trim());
  if (whole) return { ...whole, saidAs: 'json' };
  const said = withoutThinking(text)?.trim();
  if (said === undefined) return UNREADABLE;
  const structured = form === 'boxed' ? null : parseStructured(kind, said);
  if (structured) return { ...structured, saidAs: 'json' };
  // What began as JSON and did not become any was cut off: a box inside its reasoning is a thought.
  if (form === 'json' || (form === 'either' && said.startsWith('{'))) return UNREADABLE;
  const boxed = kind === 'hint' ? parseHintVote(said) : { score: parseEvalVote(said), hint: '' };
  return boxed.score === null ? { ...UNREADABLE, hint: boxed.hint } : { ...boxed, saidAs: 'boxed' };
}

/** Cost of a reply in the currency of the prices; `null` where a price or a count is missing. */
export function costOf(reply: Pick<Reply, 'promptTokens' | 'completionTokens'>, prices: Prices | null): number | null {
  const { promptTokens, completionTokens } = reply;
  if (!prices || promptTokens === null || completionTokens === null) return null;
  return (promptTokens * prices.prompt + completionTokens * prices.completion) / 1_000_000;
}

/** The vote that a reply is. */
export function evalVote(reply: Reply, decision: Decision, version: string, prices: Prices | null): EvalVote {
  return {
    score: decision.score,
    abstained: reply.failed ?? (decision.score === null ? 'unreadable' : null),
    latencyMs: reply.latencyMs,
    promptTokens: reply.promptTokens,
    completionTokens: reply.completionTokens,
    cost: costOf(reply, prices),
    promptVersion: reply.form === 'boxed' ? version : `${version}+json`,
    raw: keptOf(reply.text),
  };
}

export function hintVote(reply: Reply, decision: Decision, version: string, prices: Prices | null): HintVote {
  const score = decision.score === 0 ? null : decision.score;
  return { ...evalVote(reply, decision, version, prices), score, hint: decision.hint };
}

/** Raw replies are kept for audits, but not without bound, characters: their beginning, and more of the end, where the decision is. */
const HEAD = 1_000;
const TAIL = 3_000;

function keptOf(text: string): string {
  if (text.length <= HEAD + TAIL) return text;
  return `${text.slice(0, HEAD)}[…${text.length - HEAD - TAIL} characters…]${text.slice(-TAIL)}`;
}
