/** Calls `task` again and again: after a pause, or at once when it was woken meanwhile. */
export class Loop {
  private closed = false;
  private awake = false;
  private wakeUp: () => void = () => undefined;
  private running: Promise<void> | null = null;

  constructor(
    private readonly pauseMs: number,
    /** Never rejects. */
    private readonly task: () => Promise<void>,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  wake(): void {
    this.awake = true;
    this.wakeUp();
  }

  /** Resolves once the task in hand is done. */
  async stop(): Promise<void> {
    this.closed = true;
    this.wakeUp();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.closed) {
      this.awake = false;
      await this.task();
      if (!this.awake) await this.pause();
    }
  }

  private async pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.pauseMs);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.closed || this.awake) this.wakeUp();
    });
    this.wakeUp = () => undefined;
  }
}
