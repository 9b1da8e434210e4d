import type { StepRow } from '@hindcast/contracts';
import { stepsInOrder } from './step-series';

export interface MergedSteps {
  /** By version, oldest first. */
  readonly steps: readonly StepRow[];
  /** Steps between the page and what is held are unknown, or old ones changed: what came before the page has to be read again. */
  readonly isStale: boolean;
}

/** What is held, with the newest page of steps that was read again. */
export function withNewestPage(held: readonly StepRow[], page: readonly StepRow[]): MergedSteps {
  if (held.length === 0 || page.length === 0) return { steps: stepsInOrder(page), isStale: false };
  const oldest = page.reduce((low, step) => (step.version < low.version ? step : low));
  const before = held.find(({ version }) => version === oldest.version);
  const isAdjacent = before !== undefined || held[0]!.version > oldest.version;
  // A roll-back changes every version after the one it goes back to; where it reached the end of the page it may have gone further.
  const hasChanged = before !== undefined && before.state !== null && before.state !== oldest.state;
  return !isAdjacent || hasChanged
    ? { steps: stepsInOrder(page), isStale: true }
    : { steps: stepsInOrder([...held, ...page]), isStale: false };
}
