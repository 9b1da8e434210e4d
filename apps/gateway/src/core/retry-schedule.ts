/** Pause after the first attempt; each further one doubles it. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

interface Postponed {
  readonly since: number;
  readonly until: number;
  readonly times: number;
  /** Times that were for the operation itself, not for an outage or for what is not there yet. */
  readonly refusals: number;
}

/** When each operation that failed, or came too early, is tried again. Times in milliseconds. */
export class RetrySchedule {
  private readonly postponed = new Map<string, Postponed>();

  isWaiting(name: string, now: number): boolean {
    return (this.postponed.get(name)?.until ?? 0) > now;
  }

  /** When the operation was first postponed; `null` where it was not. */
  since(name: string): number | null {
    return this.postponed.get(name)?.since ?? null;
  }

  /** @returns how often the operation was refused, this time included */
  postpone(name: string, now: number, isRefused: boolean): number {
    const { since = now, times = 0, refusals = 0 } = this.postponed.get(name) ?? {};
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS);
    const refused = refusals + (isRefused ? 1 : 0);
    this.postponed.set(name, { since, until: now + pause, times: times + 1, refusals: refused });
    return refused;
  }

  forget(name: string): void {
    this.postponed.delete(name);
  }
}
