import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** The client's side of a streamed answer. */
export class ClientConnection {
  private isOver = false;
  private began: number | null = null;

  /** @param patienceMs a client that takes nothing for so long while something waits for it counts as gone */
  constructor(
    private readonly response: ServerResponse,
    private readonly patienceMs: number,
  ) {}

  /** The client went away before its answer was complete. */
  get isGone(): boolean {
    return this.response.closed && !this.response.writableFinished;
  }

  get hasStarted(): boolean {
    return this.response.headersSent;
  }

  /** When the streamed answer began, in milliseconds of `performance.now()`; `null` where it has not, or is no stream. */
  get startedAt(): number | null {
    return this.began;
  }

  onGone(listener: () => void): void {
    if (this.isGone) return listener();
    this.response.once('close', () => {
      if (this.isGone) listener();
    });
  }

  start(headers: Readonly<Record<string, string>>): void {
    if (this.isGone || this.hasStarted) return;
    this.began = performance.now();
    this.response.writeHead(200, headers);
  }

  /** Writes whole events; resolves when the client can take more. */
  async write(events: Uint8Array): Promise<void> {
    if (this.isGone || this.isOver) return;
    if (this.response.write(events)) return;
    const leave = new AbortController();
    const stalled = setTimeout(() => this.response.destroy(), this.patienceMs);
    await Promise.race([once(this.response, 'drain', leave), once(this.response, 'close', leave)]).finally(() => {
      clearTimeout(stalled);
      leave.abort();
    });
  }

  end(): void {
    this.isOver = true;
    if (!this.isGone) this.response.end();
  }
}
