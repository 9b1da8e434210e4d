import type { RewardSource, Score, TurnStory } from '@hindcast/contracts';
import type { Turn } from './turn';

/** What the decision adds to a turn's story. */
export interface DecisionNotes {
  readonly evalScore: number | null;
  readonly reward: number | null;
  readonly rewardSource: string | null;
  readonly hint: string | null;
}

/** The story of a turn, or `null` while no message said which answer it was. */
export function storyOf(turn: Turn, decision: DecisionNotes | null): TurnStory | null {
  const { id, responseId, policyVersion } = turn;
  if (responseId === null || policyVersion === null) return null;
  return {
    turnId: id,
    responseId,
    policyVersion,
    state: stateOf(turn),
    case: turn.case,
    reason: turn.reason,
    evalScore: (decision?.evalScore ?? null) as Score | null,
    reward: decision?.reward ?? null,
    rewardSource: (decision?.rewardSource ?? null) as RewardSource | null,
    hint: decision?.hint ?? null,
    trainedIn: turn.trainedIn,
  };
}

function stateOf(turn: Turn): TurnStory['state'] {
  if (turn.trainedIn !== null) return 'trained';
  if (turn.ending === 'open') return 'open';
  if (turn.ending !== 'paired') return 'closed';
  if (turn.case !== null) return 'decided';
  return turn.judged ? 'judged' : 'paired';
}
