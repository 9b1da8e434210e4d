import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Overview } from '@hindcast/contracts';
import { Log } from '@hindcast/platform';
import type { FastifyInstance } from 'fastify';
import { feedStep, type FeedState } from '../core/admin/feed';
import { FeedListener } from './feed-listener';
import { OverviewBook } from './overview-book';

/** From the end of one look to the beginning of the next. */
const LOOK_EVERY_MS = 1_000;
const BEAT_EVERY_MS = 15_000;

/** Tells pages what changes. Looks only while somebody listens, and once for all of them. */
@Injectable()
export class LiveFeed {
  private readonly listeners = new Set<FeedListener>();
  private state: FeedState | null = null;
  private latest: Overview | null = null;
  private isLooking = false;
  private isEnding = false;

  constructor(
    private readonly book: OverviewBook,
    private readonly log: Log,
    host: HttpAdapterHost,
  ) {
    // The server waits for open answers before it closes; these never end by themselves.
    host.httpAdapter.getInstance<FastifyInstance>().addHook('preClose', (done) => {
      this.isEnding = true;
      for (const listener of this.listeners) listener.end();
      done();
    });
  }

  /**
   * Takes the response over until its reader leaves or the gateway ends.
   *
   * @param mayStill its reader may go on; asked before each look
   */
  listen(response: ServerResponse, mayStill: () => boolean): void {
    const listener = new FeedListener(response, mayStill);
    listener.open();
    if (this.isEnding) return listener.end();
    this.listeners.add(listener);
    response.once('close', () => this.listeners.delete(listener));
    if (this.latest) listener.tell([{ name: 'overview', data: this.latest }]);
    if (this.isLooking) return;
    this.isLooking = true;
    void this.look();
  }

  private async look(): Promise<void> {
    let beatAt = Date.now() + BEAT_EVERY_MS;
    while (this.listeners.size > 0 && !this.isEnding) {
      this.dismiss();
      try {
        const overview = await this.book.look();
        const { state, events } = feedStep(this.state, overview);
        this.state = state;
        this.latest = overview;
        for (const listener of this.listeners) listener.tell(events);
      } catch (error) {
        this.log.error('feed.failed', { error });
      }
      if (Date.now() >= beatAt) {
        beatAt = Date.now() + BEAT_EVERY_MS;
        for (const listener of this.listeners) listener.beat();
      }
      await this.pause();
    }
    this.isLooking = false;
    // Who comes next reads the lists anyway.
    this.state = null;
    this.latest = null;
  }

  /** A key may be taken away or expire while its stream goes on. */
  private dismiss(): void {
    for (const listener of this.listeners) {
      if (listener.mayStill()) continue;
      this.listeners.delete(listener);
      listener.end();
    }
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS).unref());
  }
}
