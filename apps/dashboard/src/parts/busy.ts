// How much of the page is still awaited: `useAwaited()` counts a part while it is mounted, `useIsBusy()` tells whether there is any.
import { useLayoutEffect, useSyncExternalStore } from 'react';

let awaited = 0;
const listeners = new Set<() => void>();

function change(by: 1 | -1): void {
  awaited += by;
  for (const listener of listeners) listener();
}

export function useAwaited(): void {
  useLayoutEffect(() => {
    change(1);
    return () => change(-1);
  }, []);
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useIsBusy = (): boolean => useSyncExternalStore(subscribe, () => awaited > 0);
