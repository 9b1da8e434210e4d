// `announce('3 new turns')`: says it to a screen reader, in the one live region of the page.
import { useSyncExternalStore } from 'react';

let text = '';
const listeners = new Set<() => void>();

export function announce(message: string): void {
  // The same sentence again is news only when it differs by something.
  text = message === text ? `${message}\u00a0` : message;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Announcer() {
  const message = useSyncExternalStore(subscribe, () => text);
  return (
    <div role="status" aria-live="polite" className="only-heard">
      {message}
    </div>
  );
}
