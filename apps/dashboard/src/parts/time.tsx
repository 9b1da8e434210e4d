// <Time at={ms} />: “5 min ago”, with the exact time in <time> and on hover; moves on by itself.
import { useSyncExternalStore } from 'react';
import { exactTime, relativeTime } from '../core/time';

const TICK_MS = 10_000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

/** Time of now, ms, in steps of 10 s. */
const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** `at` in ms since the epoch; `null` shows a dash. */
export function Time({ at, isExact = false }: { readonly at: number | null; readonly isExact?: boolean }) {
  const current = useNow();
  if (at === null) return <span className="muted">–</span>;
  const exact = exactTime(at);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact}>
      {isExact ? exact : relativeTime(at, Math.max(current, at))}
    </time>
  );
}
