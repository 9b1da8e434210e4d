import type { StepScore } from '@hindcast/advantage';
import type { Ending, GateCase } from './turn';

/** A turn of a session that waits, or waited, for the session's outcome. */
export interface PendingTurn {
  readonly id: string;
  readonly ending: Ending;
  readonly decided: GateCase | null;
  readonly judged: boolean;
  /** Own score of a turn that is judged or decided; `null` where nobody could read one. */
  readonly score: StepScore;
}

/** What can be decided of a session now. */
export interface Settlement {
  /** Scores of all steps that are known, oldest first. */
  readonly steps: readonly StepScore[];
  /** The turns to decide, with their places among the steps. */
  readonly due: readonly { readonly id: string; readonly index: number }[];
}

/**
 * Decides nothing while a turn that will be judged is not: its score is part of the others' rewards. A turn that ended unpaired will not.
 *
 * @param turns   the session's turns that are outcome-pending, oldest first
 * @param isForced the wait is over: what is known has to do
 * @returns `null` while another judgement is waited for
 */
export function settlement(turns: readonly PendingTurn[], isForced: boolean): Settlement | null {
  const isKnown = ({ judged, decided }: PendingTurn): boolean => judged || decided !== null;
  const isWaitedFor = (turn: PendingTurn): boolean =>
    !isKnown(turn) && (turn.ending === 'open' || turn.ending === 'paired');
  if (!isForced && turns.some(isWaitedFor)) return null;
  const known = turns.filter(isKnown);
  const due = known.flatMap(({ id, decided }, index) => (decided === null ? [{ id, index }] : []));
  return { steps: known.map((turn) => turn.score), due };
}
