import { conclusions, type Turn } from '../../core/turn';

/** Reason of whatever was ended by a request to forget. */
export const FORGOTTEN = 'forgotten';

/**
 * What stays of a turn that is forgotten: that there was one, where it ended, what it trained. The books balance with it and the turn ids
 * of steps stay valid; nothing says any more whose it was. What had not ended ends now, so that no message which is still under way can
 * decide it again: the first decision stands.
 *
 * @returns `null` when nothing is left to forget
 */
export function forgottenTurn(turn: Turn): Turn | null {
  const facts = { responseId: null, sessionId: null, userId: null, closedDetail: null, ...ending(turn) };
  const isDone = Object.entries(facts).every(([name, value]) => turn[name as keyof Turn] === value);
  if (isDone) return null;
  const after = { ...turn, ...facts, revision: turn.revision + 1 };
  return { ...after, ...conclusions(after) };
}

function ending(turn: Turn): Partial<Turn> {
  if (turn.trainedIn !== null) return {};
  if (turn.ending === 'open') return { closed: FORGOTTEN };
  if (turn.ending !== 'paired') return {};
  if (turn.decided === null) return { decided: 'drop', decidedReason: FORGOTTEN };
  return turn.decided !== 'drop' && turn.refused === null ? { refused: FORGOTTEN } : {};
}
