// Where the page is: path and query, over the History API. `navigate` goes somewhere, `useLocation` follows.
import { useSyncExternalStore } from 'react';

export interface Location {
  readonly path: string;
  /** Query with its `?`, or empty. */
  readonly search: string;
}

const listeners = new Set<() => void>();
let location: Location = read();
let visits = 0;

function read(): Location {
  return { path: window.location.pathname, search: window.location.search };
}

function moved(): void {
  const next = read();
  if (next.path !== location.path) visits += 1;
  location = next;
  for (const listener of listeners) listener();
}
window.addEventListener('popstate', moved);

/** Goes to a path of the page. `replace`: without a step back, as for a filter that is being typed. */
export function navigate(to: string, { replace = false } = {}): void {
  const before = location.path;
  if (replace) window.history.replaceState(null, '', to);
  else window.history.pushState(null, '', to);
  moved();
  if (location.path !== before) window.scrollTo(0, 0);
}

/** Pages that were gone to since the first one; 0 while the first is shown, which takes no focus. */
export const visitsSoFar = (): number => visits;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const useLocation = (): Location => useSyncExternalStore(subscribe, () => location);
