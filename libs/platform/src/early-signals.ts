const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const end = (): void => process.exit(0);

/**
 * Until {@link signalsAreHandled} either signal ends the process at once: nothing is served yet that could be left undone. Without a handler
 * the first process of a container would not even notice it.
 */
export function endOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, end);
}

/** Somebody else knows how to end this process in order. */
export function signalsAreHandled(): void {
  for (const signal of SIGNALS) process.off(signal, end);
}
