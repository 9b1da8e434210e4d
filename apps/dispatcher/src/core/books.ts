import type { LedgerStatus } from '@hindcast/contracts';
import type { Ending, GateCase } from './turn';

/** Number of turns that ended alike. */
export interface TurnGroup {
  readonly ending: Ending;
  readonly case: GateCase | null;
  readonly reason: string | null;
  readonly count: number;
}

/**
 * The books of the turns. They balance because every turn is in exactly one group and every group is counted in exactly one place.
 */
export function booksOf(groups: readonly TurnGroup[]): Pick<LedgerStatus, 'turns' | 'cases' | 'reasons'> {
  const turns = { captured: 0, paired: 0, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 0 };
  const cases = { opdRl: 0, opd: 0, rl: 0, drop: 0, deciding: 0 };
  const reasons = new Map<string, number>();
  for (const group of groups) {
    turns.captured += group.count;
    turns[group.ending] += group.count;
    if (group.ending === 'paired') cases[group.case ?? 'deciding'] += group.count;
    if (group.reason !== null && isNotable(group)) {
      reasons.set(group.reason, (reasons.get(group.reason) ?? 0) + group.count);
    }
  }
  return { turns, cases, reasons: Object.fromEntries([...reasons].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Drops, untrainable turns, refusals and dead letters; an expired turn's reason is that it expired. */
const isNotable = ({ ending, case: gateCase }: TurnGroup): boolean =>
  gateCase === 'drop' || ending === 'untrainable' || ending === 'failed';
