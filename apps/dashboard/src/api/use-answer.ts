// Reading: `const answer = useAnswer<TurnsPage>('/admin/v1/turns', { on: ['turns'] })`, shown by `<Answered answer={answer} …>`.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ask, AskFailure } from './ask';
import { useOnEvent, type EventName } from './events';

export interface Answer<T> {
  /** The newest answer that came; old data stays while it is asked for again, and when that fails. `null` before the first. */
  readonly data: T | null;
  /** The path that `data` is of; another one than asked for while `keep` holds the old data. */
  readonly of: string | null;
  /** Why the newest request failed; `null` when it did not. */
  readonly failure: AskFailure | null;
  readonly isAsking: boolean;
  /** Asks again, now. */
  readonly again: () => void;
}

export interface AnswerOptions {
  /** Asks again, at most once a second, when one of these events comes. */
  readonly on?: readonly EventName[];
  /** Asks again after that many ms, for what no event announces. */
  readonly everyMs?: number;
  /** Keeps the data of the path before while that of a new path is on its way: a list whose filter changes does not blink. */
  readonly keep?: boolean;
}

interface Held<T> {
  readonly path: string | null;
  readonly data: T | null;
  readonly of: string | null;
  readonly failure: AskFailure | null;
  readonly asked: number;
}

const NEVER: readonly EventName[] = [];
/** Comes when anything changed, so also when what was away is back. */
const ANYTHING: readonly EventName[] = ['overview'];
const PAUSE_MS = 1_000;

/** The JSON of a path; `null` asks for nothing. A request is aborted when the path changes or the page is left. */
export function useAnswer<T>(path: string | null, options: AnswerOptions = {}): Answer<T> {
  const { on = NEVER, everyMs = 0, keep = false } = options;
  const [held, setHeld] = useState<Held<T>>({ path: null, data: null, of: null, failure: null, asked: -1 });
  const [asked, setAsked] = useState(0);
  const again = useCallback(() => setAsked((n) => n + 1), []);

  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    ask<T>(path, { signal: abort.signal }).then(
      (data) => abort.signal.aborted || setHeld({ path, data, of: path, failure: null, asked }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const failure = error instanceof AskFailure ? error : new AskFailure(String(error), 0, null);
        setHeld((before) => {
          const kept = before.of === path || keep ? { data: before.data, of: before.of } : { data: null, of: null };
          return { path, ...kept, failure, asked };
        });
      },
    );
    return () => abort.abort();
  }, [path, asked, keep]);

  const { failure } = held;
  const mayPass = held.path === path && failure !== null && (failure.status === 0 || failure.status >= 500);
  useAgainOn(mayPass ? ANYTHING : NEVER, again);
  useAgainOn(on, again);
  useEffect(() => {
    if (everyMs <= 0) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, again]);

  const isOfPath = held.path === path;
  return {
    data: isOfPath || keep ? held.data : null,
    of: held.of,
    failure: isOfPath ? held.failure : null,
    isAsking: path !== null && !(isOfPath && held.asked === asked),
    again,
  };
}

/** Asks again, at most once a second, when one of these events comes; for a page that learns from its data which they are. */
export function useAgainOn(names: readonly EventName[], again: () => void): void {
  useOnEvent(names, useAtMostOnceASecond(again));
}

function useAtMostOnceASecond(call: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = null;
      call();
    }, PAUSE_MS);
  }, [call]);
}
