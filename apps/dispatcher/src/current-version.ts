import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CurrentPolicy, DependencyUnavailable, readNewer } from '@hindcast/contracts';
import { Buckets, Log, Nats } from '@hindcast/platform';
import type { KV, KvEntry } from '@nats-io/kv';

const RETRY_MS = 500;
/** A watch that ended without a word is not to freeze the version. */
const RE_READ_MS = 2_000;
const KEY = 'current';

/** The policy version that serves: read once, watched from then on, so that a decision asks nobody. */
@Injectable()
export class CurrentVersion implements OnModuleDestroy {
  /** `null`: not known, or what the bucket holds cannot be read. */
  private version: number | null = null;
  private closed = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly buckets: Buckets,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {}

  start(): void {
    void this.follow();
  }

  onModuleDestroy(): void {
    this.closed = true;
    this.wake();
  }

  /** 0 before the first version. @throws DependencyUnavailable while it is not known: a guess would let stale samples through. */
  value(): number {
    if (this.version === null) throw new DependencyUnavailable('policy', 'policy/current is not known', RETRY_MS);
    return this.version;
  }

  private async follow(): Promise<void> {
    while (!this.closed) {
      try {
        await Promise.race([this.nats.whenConnected(), new Promise<void>((resolve) => (this.wake = resolve))]);
        if (this.closed) return;
        const bucket = await this.buckets.open('policy');
        this.accept(await bucket.get(KEY));
        await this.watch(bucket);
      } catch (error) {
        this.log.warn('policy.not-read', { error });
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Returns when the watch ends; fails when the bucket cannot be read any more. */
  private async watch(bucket: KV): Promise<void> {
    const entries = await this.nats.uncut(bucket.watch({ key: KEY }));
    const reading = this.reRead(bucket).finally(() => entries.stop());
    for await (const entry of entries) this.accept(entry);
    await reading;
  }

  private async reRead(bucket: KV): Promise<void> {
    while (!this.closed) {
      const timeUp = sleep(RE_READ_MS, undefined, { ref: false });
      await Promise.race([timeUp, new Promise<void>((resolve) => (this.wake = resolve))]);
      if (!this.closed) this.accept(await bucket.get(KEY));
    }
  }

  private accept(entry: KvEntry | null): void {
    if (entry?.operation !== 'PUT') return void (this.version = 0);
    const parsed = readNewer(CurrentPolicy, jsonOf(entry));
    if (!parsed.success) this.log.error('policy.unreadable');
    this.version = parsed.success ? parsed.data.version : null;
  }
}

function jsonOf(entry: KvEntry): unknown {
  try {
    return entry.json();
  } catch {
    return undefined;
  }
}
