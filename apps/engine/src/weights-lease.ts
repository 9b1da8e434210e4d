import type { ForwardPass } from './forward-pass';

/** Weights in use by requests; freed once they are retired and the last request is through. */
export class WeightsLease {
  private users = 0;
  private isRetired = false;

  constructor(readonly forward: ForwardPass) {}

  /** Keeps the weights until the returned function is called. */
  take(): () => void {
    this.users++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.users--;
      this.freeIfUnused();
    };
  }

  retire(): void {
    this.isRetired = true;
    this.freeIfUnused();
  }

  private freeIfUnused(): void {
    if (this.isRetired && this.users === 0) void this.forward.release();
  }
}
