/** As much of an AbortSignal as whoever asks an engine needs. */
export interface StopSignal {
  readonly aborted: boolean;
  /** What those who wait are to get. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal and who gives it. Every answer takes one: an AbortController with its events does far more than is needed here. */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown = undefined;
  private readonly listeners: (() => void)[] = [];

  addEventListener(_: 'abort', listener: () => void): void {
    this.listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    const place = this.listeners.indexOf(listener);
    if (place >= 0) this.listeners.splice(place, 1);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = new Error('nobody waits for the answer any more');
    for (const listener of this.listeners.splice(0)) listener();
  }
}

/**
 * @throws the signal's reason when it is aborted first. What is waited for may be shared by others and goes on.
 */
export async function unlessAborted<T>(waited: Promise<T>, signal: StopSignal): Promise<T> {
  let stop = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop);
  });
  if (signal.aborted) stop();
  return Promise.race([waited, left]).finally(() => signal.removeEventListener('abort', stop));
}
