import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@hindcast/platform';
import { ContractViolation } from '@hindcast/contracts';
import { touchedBy } from './core/operation';
import { RetrySchedule } from './core/retry-schedule';
import { isOutage } from './outage';
import type { Spool, SpooledOperation } from './spool';

const AT_ONCE = 64;
/** Pauses after drains in which nothing could be done. */
const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const FLUSH_PAUSE_MS = 100;
/** How often an operation may be refused before it is given up. */
const MOST_REFUSALS = 5;

/** `early`: what the operation is about is not there yet. */
export type Outcome = 'done' | 'early';

export interface DrainOptions {
  readonly spool: Spool;
  /** @param isRepeated it was postponed before */
  readonly perform: (spooled: SpooledOperation, isRepeated: boolean) => Promise<Outcome>;
  /** Takes over what came early. */
  readonly onEarly: (spooled: SpooledOperation) => void;
  readonly isConnected: () => boolean;
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * Does what waits in the spool, in order where the order counts. One that fails is tried again later and holds up only what touches
 * the same; one that NATS can never take is given up.
 */
export class SpoolDrain {
  private readonly retries = new RetrySchedule();
  private draining: Promise<void> | null = null;
  private failures = 0;
  private pausedUntil = 0;
  private readonly now: () => number;

  constructor(private readonly options: DrainOptions) {
    this.now = options.now ?? Date.now;
  }

  /** Resolves when what can be done now is done. */
  drain(): Promise<void> {
    this.draining ??= this.drainAll()
      .catch((error: unknown) => this.options.log.error('spool.unreadable', { error }))
      .finally(() => (this.draining = null));
    return this.draining;
  }

  /**
   * Does what waits, again and again, until nothing is left, NATS is away or `limitMs` are over. Resolves when nothing is being done.
   */
  async flush(limitMs: number): Promise<void> {
    const { spool, isConnected, log } = this.options;
    const until = this.now() + limitMs;
    while (spool.size > 0 && isConnected() && this.now() < until) {
      this.pausedUntil = 0;
      await this.drain();
      if (spool.size > 0) await sleep(FLUSH_PAUSE_MS);
    }
    await this.draining;
    if (spool.size > 0) log.warn('spool.left', { operations: spool.size });
  }

  private async drainAll(): Promise<void> {
    const { spool, isConnected, log } = this.options;
    if (spool.size === 0 || this.now() < this.pausedUntil) return;
    let done = 0;
    while (isConnected()) {
      const batch = await spool.oldest(AT_ONCE, (name) => this.retries.isWaiting(name, this.now()));
      if (batch.length === 0) break;
      const results = await this.doInOrder(batch).finally(() => spool.release(batch));
      const progress = results.filter(Boolean).length;
      done += progress;
      if (progress === 0) {
        this.pausedUntil = this.now() + Math.min(SHORTEST_PAUSE_MS * 2 ** this.failures++, LONGEST_PAUSE_MS);
        break;
      }
      this.failures = 0;
    }
    if (done > 0) log.info('spool.drained', { operations: done, left: spool.size });
  }

  /** Those that touch the same one after the other, all others at once. What waits for a failed one is left for later. */
  private doInOrder(batch: readonly SpooledOperation[]): Promise<boolean[]> {
    const latest = new Map<string, Promise<boolean>>();
    return Promise.all(
      batch.map((spooled) => {
        const touched = touchedBy(spooled.operation);
        const earlier = touched.flatMap((entry) => latest.get(entry) ?? []);
        const done = Promise.all(earlier).then((before) => before.every(Boolean) && this.doSafely(spooled));
        for (const entry of touched) latest.set(entry, done);
        return done;
      }),
    );
  }

  /** The disk that fails one operation fails no other that is still under way. */
  private doSafely(spooled: SpooledOperation): Promise<boolean> {
    return this.doOne(spooled).catch((error: unknown) => {
      this.options.log.error('spool.unusable', { error });
      return false;
    });
  }

  /** @returns whether what waits for it can go on */
  private async doOne(spooled: SpooledOperation): Promise<boolean> {
    const { name } = spooled;
    const isRepeated = this.retries.since(name) !== null;
    try {
      if ((await this.options.perform(spooled, isRepeated)) === 'early') this.options.onEarly(spooled);
    } catch (error) {
      return this.failed(spooled, error);
    }
    this.retries.forget(name);
    await this.options.spool.remove(name);
    return true;
  }

  private async failed({ name, operation }: SpooledOperation, error: unknown): Promise<boolean> {
    const { spool, isConnected, log } = this.options;
    log.warn('spool.operation-failed', { kind: operation.kind, error });
    // Everything is tried again after a reconnection.
    if (!isConnected()) return false;
    const refusals = this.retries.postpone(name, this.now(), !isOutage(error));
    if (refusals < MOST_REFUSALS && !(error instanceof ContractViolation)) return false;
    this.retries.forget(name);
    log.error('spool.gave-up', { kind: operation.kind, error });
    await spool.giveUp(name, 'refused');
    return true;
  }
}
