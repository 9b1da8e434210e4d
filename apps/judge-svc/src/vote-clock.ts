/** Made once: an abort without a reason makes an error with a stack each time. */
const OVER = new Error('the time of this vote is over');

/** The deadline of one vote. It starts with the vote's first worker slot and holds for all its tries together. */
export class VoteClock {
  /** Resolves at the deadline, or once the vote is decided, whatever the network does. */
  readonly over: Promise<void>;
  private readonly controller = new AbortController();
  private startedAt: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private end: () => void = () => undefined;

  constructor(private readonly limitMs: number) {
    this.over = new Promise((resolve) => (this.end = resolve));
  }

  /** Ends the request that is under way. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get elapsedMs(): number {
    return this.startedAt === null ? 0 : Math.round(performance.now() - this.startedAt);
  }

  start(): void {
    if (this.startedAt !== null || this.signal.aborted) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(() => this.expire(), this.limitMs);
  }

  /** The vote is decided. */
  stop(): void {
    clearTimeout(this.timer);
    this.end();
  }

  /** Nothing is waited for any longer. */
  expire(): void {
    this.controller.abort(OVER);
    this.stop();
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
