import type { StepRow, StepsPage } from '@hindcast/contracts';
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { ask, AskFailure } from '../../api/ask';
import { useAnswer, type Answer } from '../../api/use-answer';
import { withQuery } from '../../core/route';
import { withNewestPage } from '../../core/step-pages';
import { newestSteps, stepsInOrder } from '../../core/step-series';

export interface StepsReading {
  /** The newest page, which is read again with every step; its failure is that of the whole. */
  readonly newest: Answer<StepsPage>;
  /** Oldest first, at most as many as wanted. */
  readonly steps: readonly StepRow[];
  /** Older pages are on their way. */
  readonly isLoading: boolean;
  readonly failure: AskFailure | null;
  readonly again: () => void;
}

const NEWEST_PATH = '/admin/v1/steps?limit=50';
const PAGE = 200;

interface Held {
  readonly steps: readonly StepRow[];
  /** There are steps before those held. */
  readonly hasOlder: boolean;
  readonly isLoading: boolean;
  readonly failure: AskFailure | null;
  /** Counts what makes the older pages be read (again). */
  readonly round: number;
}
type Change =
  | { readonly kind: 'newest'; readonly page: StepsPage }
  | { readonly kind: 'older'; readonly page: StepsPage }
  | { readonly kind: 'loading'; readonly is: boolean }
  | { readonly kind: 'failed'; readonly failure: AskFailure }
  | { readonly kind: 'again' };

function reduce(held: Held, change: Change): Held {
  if (change.kind === 'newest') {
    const { steps, isStale } = withNewestPage(held.steps, change.page.steps);
    const isFirst = held.steps.length === 0 || isStale || steps.length <= change.page.steps.length;
    const hasOlder = isFirst ? change.page.next !== null : held.hasOlder;
    return { ...held, steps, hasOlder, round: isFirst ? held.round + 1 : held.round };
  }
  if (change.kind === 'older')
    return {
      ...held,
      steps: stepsInOrder([...change.page.steps, ...held.steps]),
      hasOlder: change.page.next !== null,
      failure: null,
    };
  if (change.kind === 'loading') return { ...held, isLoading: change.is };
  if (change.kind === 'failed') return { ...held, isLoading: false, failure: change.failure };
  return { ...held, failure: null, round: held.round + 1 };
}

/** The newest `wanted` steps, page by page, kept up to date. */
export function useSteps(wanted: number): StepsReading {
  const newest = useAnswer<StepsPage>(NEWEST_PATH, { on: ['steps'] });
  const [held, change] = useReducer(reduce, { steps: [], hasOlder: false, isLoading: false, failure: null, round: 0 });
  const latest = useRef(held);
  useEffect(() => {
    latest.current = held;
  });
  useEffect(() => {
    if (newest.data !== null) change({ kind: 'newest', page: newest.data });
  }, [newest.data]);

  useEffect(() => {
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      let { length } = latest.current.steps;
      let before = latest.current.steps[0]?.version;
      let { hasOlder } = latest.current;
      if (before === undefined || !hasOlder || length >= wanted) {
        if (latest.current.isLoading) change({ kind: 'loading', is: false });
        return;
      }
      change({ kind: 'loading', is: true });
      while (hasOlder && length < wanted) {
        const limit = Math.min(PAGE, wanted - length);
        const page: StepsPage = await ask(withQuery('/admin/v1/steps', { before, limit }), { signal: abort.signal });
        if (abort.signal.aborted) return;
        change({ kind: 'older', page });
        hasOlder = page.next !== null && page.steps.length > 0;
        length += page.steps.length;
        before = page.next ?? before;
      }
      change({ kind: 'loading', is: false });
    };
    load().catch((error: unknown) => {
      if (abort.signal.aborted) return;
      change({ kind: 'failed', failure: error instanceof AskFailure ? error : new AskFailure(String(error), 0, null) });
    });
    return () => abort.abort();
  }, [wanted, held.round]);

  const again = useCallback(() => change({ kind: 'again' }), []);
  const { steps, isLoading, failure } = held;
  return { newest, steps: newestSteps(steps, wanted), isLoading, failure, again };
}
