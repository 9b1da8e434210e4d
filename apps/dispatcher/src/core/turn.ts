// What the ledger knows of a turn. Messages come at least once and in any order, so a turn is a set of facts, each taken from the first
// message that brought it; where it ended follows from the facts and not from the order they came in.

export type Ending = 'open' | 'paired' | 'untrainable' | 'expired' | 'superseded' | 'failed';
export type GateCase = 'opdRl' | 'opd' | 'rl' | 'drop';
export type Closing = 'expired' | 'superseded' | 'failed' | 'dropped-from-spool';

export interface Turn {
  readonly id: string;
  readonly tenant: string;
  /** Grows by one with every change. */
  readonly revision: number;
  readonly responseId: string | null;
  readonly sessionId: string | null;
  readonly policyVersion: number | null;
  readonly model: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly finishReason: string | null;
  readonly captured: boolean;
  /** HMAC of tenant and the request's `user`. */
  readonly userId: string | null;
  /** It is not decided before its session's outcome is known, or was waited for long enough. */
  readonly outcomePending: boolean;
  /** Its judgement is here and waits for that. */
  readonly judged: boolean;
  readonly untrainable: string | null;
  readonly paired: boolean;
  readonly closed: string | null;
  readonly closedDetail: string | null;
  readonly deadLetter: string | null;
  readonly decided: GateCase | null;
  readonly decidedReason: string | null;
  readonly refused: string | null;
  readonly trainedIn: number | null;
  /** The three that follow from the facts above. */
  readonly ending: Ending;
  readonly case: GateCase | null;
  readonly reason: string | null;
  /** When the first message about it was sent; turns of a session are in this order. */
  readonly createdAt?: Date;
}

/** What a message says about the answer itself. */
export interface Identity {
  readonly responseId: string;
  readonly sessionId: string | null;
  readonly policyVersion: number;
}

export type TurnEvent =
  | {
      readonly kind: 'captured';
      readonly identity: Identity;
      readonly model: string;
      readonly promptTokens: number | null;
      readonly completionTokens: number | null;
      readonly finishReason: string;
      readonly untrainable: string | null;
      readonly userId: string | null;
      readonly outcomePending: boolean;
    }
  | { readonly kind: 'paired'; readonly identity: Identity }
  /** Judged, and held back until the outcome of its session. */
  | { readonly kind: 'judged'; readonly identity: Identity }
  | { readonly kind: 'closed'; readonly reason: Closing; readonly detail: string | null }
  /** A message that would have told what became of the turn was given up. */
  | { readonly kind: 'dead'; readonly code: string }
  | {
      readonly kind: 'decided';
      readonly identity: Identity | null;
      readonly case: GateCase;
      readonly reason: string | null;
    }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'trained'; readonly version: number };

/** Owner of a turn that no message has named yet. */
const UNKNOWN_TENANT = 'unknown';

/**
 * The turn after the event, or `null` when the event says nothing new: a message that came again, a second judgement.
 *
 * @param turn   what is known so far; `null` when nothing is
 * @param tenant `null` when the message does not say, as a version's list of turns or a broken message
 */
export function applied(turn: Turn | null, id: string, tenant: string | null, event: TurnEvent): Turn | null {
  const before = turn ?? unknownTurn(id);
  const news = newFacts(before, event);
  if (news === null) return null;
  const after = { ...before, ...news, tenant: tenant ?? before.tenant, revision: before.revision + 1 };
  return { ...after, ...conclusions(after) };
}

function newFacts(turn: Turn, event: TurnEvent): Partial<Turn> | null {
  switch (event.kind) {
    case 'captured': {
      if (turn.captured) return null;
      const { model, promptTokens, completionTokens, finishReason, untrainable } = event;
      const { identity, userId } = event;
      const outcomePending = turn.outcomePending || event.outcomePending;
      return {
        captured: true,
        ...identity,
        model,
        promptTokens,
        completionTokens,
        finishReason,
        untrainable,
        userId,
        outcomePending,
      };
    }
    case 'paired':
      return turn.paired ? null : { paired: true, ...event.identity };
    case 'judged':
      if (turn.judged || turn.decided !== null) return null;
      return { judged: true, outcomePending: true, ...event.identity };
    case 'closed':
      return turn.closed === null ? { closed: event.reason, closedDetail: event.detail } : null;
    case 'dead':
      return turn.deadLetter === null ? { deadLetter: event.code } : null;
    case 'decided':
      return turn.decided === null ? { decided: event.case, decidedReason: event.reason, ...event.identity } : null;
    case 'refused':
      return turn.refused === null ? { refused: event.reason } : null;
    case 'trained':
      return turn.trainedIn === null ? { trainedIn: event.version } : null;
  }
}

/**
 *   known of the turn                       ending        case
 *   paired, judged, decided, refused, trained  paired      the gate's; `drop` once the trainer refused the sample; none until decided
 *   else untrainable                        untrainable
 *   else closed                             as closed; what the spool dropped has failed
 *   else a message about it died            failed
 *   else                                    open
 *
 * A pairing once sent is never withdrawn, so it outweighs a closing that a crash may have sent beside it; and only a paired turn is judged.
 */
export function conclusions(turn: Turn): Pick<Turn, 'ending' | 'case' | 'reason'> {
  const isPaired =
    turn.paired || turn.judged || turn.decided !== null || turn.refused !== null || turn.trainedIn !== null;
  if (isPaired) {
    const isRefused =
      turn.refused !== null && turn.trainedIn === null && turn.decided !== null && turn.decided !== 'drop';
    if (isRefused) return { ending: 'paired', case: 'drop', reason: turn.refused };
    return { ending: 'paired', case: turn.decided, reason: turn.decidedReason };
  }
  if (turn.untrainable !== null) return { ending: 'untrainable', case: null, reason: turn.untrainable };
  if (turn.closed !== null) return { ending: endingOf(turn.closed), case: null, reason: turn.closed };
  if (turn.deadLetter !== null) return { ending: 'failed', case: null, reason: deadLetterReason(turn.deadLetter) };
  return { ending: 'open', case: null, reason: null };
}

/** Reason of whatever a dead letter ended. */
export const deadLetterReason = (code: string): string => `dead-letter:${code}`;

const endingOf = (closed: string): Ending => (closed === 'expired' || closed === 'superseded' ? closed : 'failed');

function unknownTurn(id: string): Turn {
  return {
    id,
    tenant: UNKNOWN_TENANT,
    revision: 0,
    responseId: null,
    sessionId: null,
    policyVersion: null,
    model: null,
    promptTokens: null,
    completionTokens: null,
    finishReason: null,
    captured: false,
    userId: null,
    outcomePending: false,
    judged: false,
    untrainable: null,
    paired: false,
    closed: null,
    closedDetail: null,
    deadLetter: null,
    decided: null,
    decidedReason: null,
    refused: null,
    trainedIn: null,
    ending: 'open',
    case: null,
    reason: null,
  };
}
