import { quorateScore, selectHint } from '@hindcast/advantage';
import type { HintedTurn } from '@hindcast/contracts';
import type { JudgedTurn } from '../../core/decide';

/** How votes become a score and a hint; what is not given stays as the judge service had it. */
export interface VoteRule {
  readonly hintAcceptance?: 'any' | 'majority';
  /** Readable votes needed, of either kind. */
  readonly quorum?: number;
}

/**
 * The judged turn as its recorded votes would have made it under another rule.
 *
 * A score that no vote gave (a person's, a verifier's) stays, and so does a hint that is a person's correction. A hint that was not
 * accepted at the time was never shown to a teacher: accepted now, the turn has none, and the gate says `teacher:none`.
 */
export function rejudged(turn: JudgedTurn, rule: VoteRule): JudgedTurn {
  if (rule.hintAcceptance === undefined && rule.quorum === undefined) return turn;
  const scored = { ...turn, evalScore: scoreOf(turn, rule) };
  const hint = hintOf(turn, rule);
  if (hint === turn.hint) return scored;
  const { teacher: _, ...untaught } = { teacher: null, ...scored };
  // A hinted turn without its teacher is what the teacher service receives; the gate takes it as one that has none.
  return { ...untaught, hint } as HintedTurn as unknown as JudgedTurn;
}

function scoreOf({ rewardSource, evalScore, evalVotes }: JudgedTurn, { quorum }: VoteRule): JudgedTurn['evalScore'] {
  if (rewardSource !== 'votes' || quorum === undefined) return evalScore;
  return quorateScore(
    evalVotes.map((vote) => vote.score),
    quorum,
  );
}

function hintOf({ hint, hintVotes }: JudgedTurn, { hintAcceptance, quorum }: VoteRule): string | null {
  const isCorrection = hint !== null && !hintVotes.some((vote) => vote.hint.trim() === hint);
  if (isCorrection) return hint;
  const readable = hintVotes.filter((vote) => vote.score !== null).length;
  if (quorum !== undefined && readable < quorum) return null;
  // Without a word about acceptance the hint that was accepted stays accepted.
  return hintAcceptance === undefined ? hint : selectHint(hintVotes, hintAcceptance);
}
