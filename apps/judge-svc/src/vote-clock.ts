/** The deadline of one vote. It starts with the vote's first worker slot and holds for all its tries together. */
export class VoteClock {
  /** Resolves at the deadline, whatever the network does. */
  readonly over: Promise<void>;
  private readonly controller = new AbortController();
  private startedAt: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private end: () => void = () => undefined;

  constructor(private readonly limitMs: number) {
    this.over = new Promise((resolve) => (this.end = resolve));
  }

  /** Ends what the vote still waits for. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get elapsedMs(): number {
    return this.startedAt === null ? 0 : Math.round(performance.now() - this.startedAt);
  }

  start(): void {
    if (this.startedAt !== null || this.signal.aborted) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(() => this.stop(), this.limitMs);
  }

  /** At the deadline, or once the vote is decided. */
  stop(): void {
    clearTimeout(this.timer);
    this.controller.abort();
    this.end();
  }

  /** Waits, at most until the deadline. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      void this.over.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
