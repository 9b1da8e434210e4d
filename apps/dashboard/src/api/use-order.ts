// Writing: `const order = useOrder<DeadLetterOutcome>(); order.give('/admin/v1/…', { force: true })`. One at a time.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ask, AskFailure } from './ask';

export interface Order<T> {
  readonly isRunning: boolean;
  readonly result: T | null;
  readonly failure: AskFailure | null;
  /** Posts; resolves with the answer, or with `null` when it failed. */
  readonly give: (path: string, body: unknown) => Promise<T | null>;
  readonly forget: () => void;
}

const NOTHING = { isRunning: false, result: null, failure: null };

export function useOrder<T>(): Order<T> {
  const [state, setState] = useState<{ isRunning: boolean; result: T | null; failure: AskFailure | null }>(NOTHING);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const give = useCallback(async (path: string, body: unknown): Promise<T | null> => {
    abort.current?.abort();
    const { signal } = (abort.current = new AbortController());
    setState({ isRunning: true, result: null, failure: null });
    try {
      const result = await ask<T>(path, { method: 'POST', body, signal });
      if (!signal.aborted) setState({ isRunning: false, result, failure: null });
      return result;
    } catch (error) {
      if (signal.aborted) return null;
      const failure = error instanceof AskFailure ? error : new AskFailure(String(error), 0, null);
      setState({ isRunning: false, result: null, failure });
      return null;
    }
  }, []);
  const forget = useCallback(() => setState(NOTHING), []);
  return { ...state, give, forget };
}
