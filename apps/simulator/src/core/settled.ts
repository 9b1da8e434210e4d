import type { LedgerStatus } from '@hindcast/contracts';

/** What the ledger is waited for to say. */
export interface Awaited {
  /** Turns that it must know. */
  readonly captured: number;
  /** Turns that may still wait for what comes after them; without it any number may. */
  readonly open?: number;
}

export type Counts = Pick<LedgerStatus, 'turns' | 'cases' | 'waitingSamples'> & {
  /** Samples of one step; `null` before a trainer has said so. */
  readonly batchSize: number | null;
};

/**
 * Whether nothing more is to come of the turns: the ledger knows them all, has decided what was paired, and no step is due.
 * @param isLate what it has not heard of by now may never come
 */
export function isSettled(now: Counts, { captured, open }: Awaited, isLate: boolean): boolean {
  const isKnown = now.turns.captured >= captured && (open === undefined || now.turns.open <= open);
  const isStepDue = now.batchSize !== null && now.waitingSamples >= now.batchSize;
  return (isKnown || isLate) && now.cases.deciding === 0 && !isStepDue;
}
