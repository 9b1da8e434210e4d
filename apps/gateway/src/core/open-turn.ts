import type { CapturedTurn, ClosedTurn, PairedTurn } from '@hindcast/contracts';
import type { PairTexts } from './judge-texts';

/** How a turn ends, as written by the one gateway that won it; every gateway can publish it from here. */
export type Ending =
  | { readonly kind: 'paired'; readonly at: number; readonly by: string; readonly body: PairedTurn }
  | { readonly kind: 'closed'; readonly at: number; readonly by: string; readonly body: ClosedTurn };

/** A captured answer that waits for what comes after it: `open` while `ending` is null, then `ending`, then gone. */
export interface OpenTurn {
  readonly turnId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  /** Hash of the conversation before the answer: equal for the attempts of one request. */
  readonly promptHash: string;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly captured: CapturedTurn;
  /** `turn.captured` is on the bus. */
  readonly announced: boolean;
  readonly ending: Ending | null;
}

/** The open turns of one conversation key, oldest first. */
export type OpenTurns = readonly OpenTurn[];

/** Adds a turn; unchanged when it is there already, as after a repeated write. */
export const withTurn = (turns: OpenTurns, turn: OpenTurn): OpenTurns =>
  turns.some((known) => known.turnId === turn.turnId) ? turns : [...turns, turn];

export const withoutTurn = (turns: OpenTurns, turnId: string): OpenTurns =>
  turns.filter((turn) => turn.turnId !== turnId);

export const withAnnounced = (turns: OpenTurns, turnId: string): OpenTurns =>
  turns.map((turn) => (turn.turnId === turnId ? { ...turn, announced: true } : turn));

/**
 * The one turn that a request continues: still open, the oldest, and of the request's own session where both name one.
 *
 *   request's session   turn's session   pairs
 *   X                   X                first choice
 *   X                   none             yes
 *   none                any              yes
 *   X                   Y                no: the client says that these are two conversations
 */
export function turnToPair(turns: OpenTurns, sessionId: string | null): OpenTurn | null {
  const open = turns.filter((turn) => turn.ending === null);
  const own = sessionId === null ? undefined : open.find((turn) => turn.sessionId === sessionId);
  return own ?? open.find((turn) => sessionId === null || turn.sessionId === null) ?? null;
}

/** Writes the ending of one turn; the first one written stays. */
export const withEnding = (turns: OpenTurns, turnId: string, ending: Ending): OpenTurns =>
  turns.map((turn) => (turn.turnId === turnId && turn.ending === null ? { ...turn, ending } : turn));

export const pairedBody = (turn: OpenTurn, texts: PairTexts): PairedTurn => ({
  responseId: turn.captured.responseId,
  sessionId: turn.sessionId,
  policyVersion: turn.captured.policyVersion,
  conversation: texts.conversation,
  answer: texts.answer,
  nextState: texts.nextState,
  truncated: turn.captured.finishReason === 'length',
});
