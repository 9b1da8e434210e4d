/** The deadline of one vote. It starts with the vote's first worker slot and holds for all its tries together. */
export class VoteClock {
  private startedAt: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private expired = false;
  private cutOff: (() => void) | null = null;
  private readonly waiting: ((nothing: null) => void)[] = [];

  constructor(private readonly limitMs: number) {}

  /** Nothing is waited for any longer. */
  get isExpired(): boolean {
    return this.expired;
  }

  get elapsedMs(): number {
    return this.startedAt === null ? 0 : Math.round(performance.now() - this.startedAt);
  }

  start(): void {
    if (this.startedAt !== null || this.expired) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(() => this.expire(), this.limitMs);
  }

  /** @param cutOff ends the request that is under way; `null` when there is none. An abort signal would do the same at many times the cost. */
  whileUnderWay(cutOff: (() => void) | null): void {
    this.cutOff = cutOff;
  }

  /** The vote is decided. */
  stop(): void {
    clearTimeout(this.timer);
    for (const wake of this.waiting.splice(0)) wake(null);
  }

  expire(): void {
    this.expired = true;
    this.cutOff?.();
    this.stop();
  }

  /** Resolves at the deadline, or once the vote is decided. Most votes never ask for it. */
  whenOver(): Promise<null> {
    return this.expired ? Promise.resolve(null) : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Waits, at most until the deadline. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      void this.whenOver().then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
