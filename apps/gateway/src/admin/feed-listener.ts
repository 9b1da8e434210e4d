import type { ServerResponse } from 'node:http';
import { eventText, type FeedEvent } from '../core/admin/feed';

const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies hold events back otherwise.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** A reader that takes nothing for so long while something waits for it counts as gone. */
const PATIENCE_MS = 30_000;

/**
 * One reader of the feed. Who reads slowly is told the latest of each name once everything before was taken; what came in between is
 * left out, so that nothing piles up here.
 */
export class FeedListener {
  private readonly waiting = new Map<FeedEvent['name'], string>();
  /** Since when the reader has taken nothing, in milliseconds of `performance.now()`; `null` while it takes everything. */
  private blockedAt: number | null = null;

  constructor(
    private readonly response: ServerResponse,
    readonly mayStill: () => boolean,
  ) {
    response.on('drain', () => this.flush());
  }

  open(): void {
    this.response.writeHead(200, HEAD);
    this.response.flushHeaders();
  }

  tell(events: readonly FeedEvent[]): void {
    for (const event of events) this.waiting.set(event.name, eventText(event));
    if (this.blockedAt === null) this.flush();
  }

  /** A line that says nothing, so that neither side takes the connection for dead. */
  beat(): void {
    if (this.blockedAt === null) this.write(': \n\n');
    else if (performance.now() - this.blockedAt > PATIENCE_MS) this.response.destroy();
  }

  end(): void {
    this.response.end();
  }

  private flush(): void {
    this.blockedAt = null;
    for (const [name, text] of this.waiting) {
      this.waiting.delete(name);
      this.write(text);
      if (this.blockedAt !== null) return;
    }
  }

  private write(text: string): void {
    if (!this.response.write(text)) this.blockedAt ??= performance.now();
  }
}
