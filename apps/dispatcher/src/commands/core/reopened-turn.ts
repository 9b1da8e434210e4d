import type { Consequence } from '../../core/dead-letter';
import { conclusions, deadLetterReason, type Turn } from '../../core/turn';

/**
 * The turn without what a dead letter made of it, so that the message can be handled after all: the first decision of a turn stands, and
 * a letter's `drop` would block the one that the replayed message brings.
 *
 * Only what this very kind of letter wrote is taken back. A turn that was trained, or whose decision or refusal has another reason,
 * stays as it is.
 *
 * @returns `null` when there is nothing to take back
 */
export function reopenedTurn(turn: Turn, kind: Consequence['kind'], code: string): Turn | null {
  if (turn.trainedIn !== null) return null;
  const reason = deadLetterReason(code);
  const facts = takenBack(turn, kind, code, reason);
  if (facts === null) return null;
  const after = { ...turn, ...facts, revision: turn.revision + 1 };
  return { ...after, ...conclusions(after) };
}

function takenBack(turn: Turn, kind: Consequence['kind'], code: string, reason: string): Partial<Turn> | null {
  switch (kind) {
    case 'failed':
      return turn.deadLetter === code ? { deadLetter: null } : null;
    case 'dropped':
      return turn.decided === 'drop' && turn.decidedReason === reason ? { decided: null, decidedReason: null } : null;
    case 'refused':
      return turn.refused === reason ? { refused: null } : null;
  }
}
