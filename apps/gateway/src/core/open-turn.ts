import type { CapturedTurn, ClosedTurn, PairedTurn, TraceContext } from '@hindcast/contracts';
import { attemptHash, exchangeHash, type PrefixIdentity } from './request-identity';
import type { Sha256 } from './canonical-conversation';
import type { PairTexts } from './judge-texts';
import type { Opening } from './opened-turns';

/** How a turn ends, as written by the one gateway that won it; every gateway can publish it from here. */
export type Ending = {
  readonly at: number;
  readonly by: string;
  /** Of the request that brought it. */
  readonly trace?: TraceContext;
} & ({ readonly kind: 'paired'; readonly body: PairedTurn } | { readonly kind: 'closed'; readonly body: ClosedTurn });

/** A captured answer that waits for what comes after it: `open` while `ending` is null, then `ending`, then gone. */
export interface OpenTurn {
  readonly turnId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  /** Hash of what stood around the conversation: tools, system messages. */
  readonly context: string;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly captured: CapturedTurn;
  /** `turn.captured` is on the bus. Where it is `false`, `opening` may say otherwise. */
  readonly announced: boolean;
  /** By whom it was opened, who also says up to which number all of its turns are announced. Missing in what an older gateway wrote. */
  readonly opening?: Opening;
  readonly ending: Ending | null;
  /** The other choices of its response: once one of them is continued, the rest is superseded. */
  readonly siblings?: readonly TurnAddress[];
  /** Requests that continued another turn of the same key while this one was open: repeated, they still mean the other one. */
  readonly passedBy?: readonly string[];
  /** What a verifier compares the answer with, as far as it may be stored. */
  readonly groundTruth?: string;
  /** Its capture, in the trace of the request that it answers: what becomes of the turn later belongs there. */
  readonly trace?: TraceContext;
}

/** Requests that a turn remembers having been passed by. */
const MAX_PASSED_BY = 8;

/** Where an open turn is found. */
export interface TurnAddress {
  readonly turnId: string;
  readonly key: string;
}

/** An open turn as its session knows it. */
export interface SessionTurn extends TurnAddress {
  /** Equal for the attempts of one request. */
  readonly attempt: string;
  readonly context: string;
  /** What is left of the turn when the history before it was edited. */
  readonly exchange: string | null;
  /** Messages before the answer. */
  readonly length: number;
  /** Hash of the conversation before the answer. Missing in what an older gateway wrote. */
  readonly asked?: string;
}

export const sessionTurn = (
  key: string,
  { turnId }: OpenTurn,
  prompt: PrefixIdentity,
  answer: Readonly<Record<string, unknown>>,
  sha256: Sha256,
): SessionTurn => ({
  turnId,
  key,
  attempt: attemptHash(prompt, sha256),
  context: prompt.context,
  exchange: exchangeHash(prompt, answer, sha256),
  length: prompt.length,
  asked: prompt.conversation,
});

/** The open turns of one conversation key, oldest first. */
export type OpenTurns = readonly OpenTurn[];

/** Adds a turn; unchanged when it is there already, as after a repeated write. */
export const withTurn = (turns: OpenTurns, turn: OpenTurn): OpenTurns =>
  turns.some((known) => known.turnId === turn.turnId) ? turns : [...turns, turn];

export const withoutTurn = (turns: OpenTurns, turnId: string): OpenTurns =>
  turns.filter((turn) => turn.turnId !== turnId);

export const withAnnounced = (turns: OpenTurns, turnId: string): OpenTurns =>
  turns.map((turn) => (turn.turnId === turnId ? { ...turn, announced: true } : turn));

/** A request, as far as it decides which of several turns with the same conversation it continues. */
export interface ContinuingRequest {
  /** Equal for the attempts of one request. */
  readonly id: string;
  readonly sessionId: string | null;
  /** Hash of what stands around the conversation before the answer. */
  readonly context: string;
  /** The answer is known to have been given in this session and context. */
  readonly isKnown: boolean;
}

/**
 * The one turn that a request continues: still open, and of the request's own session where both name one. Of several the one
 * that was asked in the same context (tools, system messages), else the one of the request's own session, else the oldest.
 *
 *   request's session   turn's session   may pair
 *   X                   X                yes
 *   X                   none             yes
 *   none                any              yes
 *   X                   Y                no: the client says that these are two conversations
 *
 * Where the answer is known to have been given in this session and context, a turn of another one is another conversation: the
 * one that is meant is continued already, or was never captured. A request that comes again, as a retry or for another answer,
 * is left nothing that was open when it came first.
 */
export function turnToPair(turns: OpenTurns, request: ContinuingRequest): OpenTurn | null {
  const { id, sessionId, context, isKnown } = request;
  const isOwn = (turn: OpenTurn): boolean => turn.sessionId === sessionId;
  const open = turns.filter(
    (turn) =>
      turn.ending === null &&
      (sessionId === null || turn.sessionId === null || isOwn(turn)) &&
      !turn.passedBy?.includes(id),
  );
  const inContext = open.filter((turn) => turn.context === context);
  if (isKnown) return inContext.find(isOwn) ?? null;
  const preferred = inContext.length > 0 ? inContext : open;
  return preferred.find(isOwn) ?? preferred[0] ?? null;
}

/**
 * The one turn of its session that a request continues although no key matches: the history before it was compacted or edited,
 * but the answer and the message that it answers are still there. One whose context differs can only be meant where the history
 * has become shorter, and where the exchange is not known from the request's own context. An answer to the request itself, its own
 * or an earlier attempt's, is none that it continues. `null` when two requests of the session could be meant.
 */
export function editedTurn(turns: readonly SessionTurn[], edited: EditedHistory, context: string): SessionTurn | null {
  const meant = turns.filter(
    (turn) =>
      turn.exchange === edited.exchange &&
      (turn.asked === undefined || turn.asked !== edited.asked) &&
      (turn.context === context || (!edited.isKnown && edited.length < turn.length)),
  );
  const [oldest] = meant;
  return oldest && meant.every(({ attempt }) => attempt === oldest.attempt) ? oldest : null;
}

/** What a request says about an answer whose conversation was never asked in this form. */
export interface EditedHistory {
  readonly exchange: string;
  readonly length: number;
  /** Hash of the whole conversation of the request. */
  readonly asked: string;
  /** The exchange is known from this session and context. */
  readonly isKnown: boolean;
}

/** Writes the ending of one turn; the first one written stays. */
export const withEnding = (turns: OpenTurns, turnId: string, ending: Ending): OpenTurns =>
  turns.map((turn) => (turn.turnId === turnId && turn.ending === null ? { ...turn, ending } : turn));

/**
 * A record in which `turn` gets `ending`: its siblings under the same key end with it, in the same write, and the turns that stay
 * open are passed by.
 */
export function withEndings(turns: OpenTurns, turn: OpenTurn, ending: Ending): OpenTurns {
  const closed = supersededBy(turn, ending);
  const ended = withEnding(turns, turn.turnId, ending);
  if (!closed) return ended;
  const siblings = new Set(turn.siblings?.map(({ turnId }) => turnId));
  return ended.map((other) => {
    if (other.ending !== null) return other;
    if (siblings.has(other.turnId)) return { ...other, ending: closed };
    return { ...other, passedBy: [...(other.passedBy ?? []), ending.by].slice(-MAX_PASSED_BY) };
  });
}

/**
 * How the siblings of a turn end because it was continued; `null` when it was not. Feedback on one choice pairs that one and
 * says nothing of the others.
 */
export function supersededBy({ turnId }: OpenTurn, ending: Ending): Ending | null {
  if (ending.kind !== 'paired' || ending.body.nextState.length === 0) return null;
  const body: ClosedTurn = { reason: 'superseded', detail: `by choice ${turnId}` };
  return { kind: 'closed', at: ending.at, by: ending.by, body };
}

export const pairedBody = (turn: OpenTurn, texts: PairTexts): PairedTurn => ({
  responseId: turn.captured.responseId,
  sessionId: turn.sessionId,
  policyVersion: turn.captured.policyVersion,
  conversation: texts.conversation,
  answer: texts.answer,
  nextState: texts.nextState,
  truncated: turn.captured.finishReason === 'length',
  outcomePending: turn.captured.outcomePending,
  groundTruth: turn.groundTruth ?? null,
});
