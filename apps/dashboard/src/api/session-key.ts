// The admin key: in sessionStorage, so that it ends with the tab. `useKeyState` tells the page when it has to ask for another one.
import { useSyncExternalStore } from 'react';

const NAME = 'hindcast.key';

export interface KeyState {
  readonly key: string | null;
  /** Why the gateway wants another key, empty where it has had none; `null` while it has not complained. */
  readonly refused: string | null;
  /** Grows with every change of the key. */
  readonly epoch: number;
}

let state: KeyState = { key: stored(), refused: null, epoch: 0 };
const listeners = new Set<() => void>();

function stored(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    // A browser that keeps nothing for this page: the key lives until the page is left.
    return null;
  }
}

function change(next: Omit<KeyState, 'epoch'>): void {
  state = { ...next, epoch: state.epoch + 1 };
  try {
    if (next.key === null) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, next.key);
  } catch {
    // As above.
  }
  for (const listener of listeners) listener();
}

export const currentKey = (): string | null => state.key;
export const acceptKey = (key: string): void => change({ key, refused: null });
export const refuseKey = (why: string): void => {
  if (state.refused === null) change({ key: null, refused: why });
};
export const signOut = (): void => change({ key: null, refused: 'Signed out.' });

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const useKeyState = (): KeyState => useSyncExternalStore(subscribe, () => state);
