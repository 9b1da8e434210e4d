import {
  DependencyUnavailable,
  decodeCapture,
  encodeTopK,
  type BucketName,
  type Capture,
  type TopK,
} from '@hindcast/contracts';
import { Buckets, Log, Metrics, Nats } from '@hindcast/platform';
import { Injectable } from '@nestjs/common';
import type { KV } from '@nats-io/kv';

const DAY_MS = 24 * 3600 * 1000;
/** As long as a sample may wait for its step; then nothing reads it any more. */
const TOP_K_TTL_MS = 14 * DAY_MS;
/** Bytes that NATS adds to a value: subject and headers. */
const MESSAGE_OVERHEAD_BYTES = 1024;

/** What lies under a turn's id: its capture, and the teacher's top-K. */
@Injectable()
export class TurnStore {
  /** Opening a bucket asks the server several times, so it is done once for a connection. */
  private readonly opened = new Map<BucketName, Promise<KV>>();
  private readonly tooLarge;

  constructor(
    private readonly buckets: Buckets,
    private readonly nats: Nats,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    nats.onDisconnected(() => this.opened.clear());
    this.tooLarge = metrics.counter(
      'teacher_top_k_too_large_total',
      'Turns whose top-K was left out because NATS takes no value of its size',
    );
  }

  /** Null when it is gone or unreadable. Throws DependencyUnavailable while NATS is away. */
  async capture(turnId: string): Promise<Capture | null> {
    const value = await this.withBucket('captures', 'read', async (kv) => {
      const entry = await kv.get(turnId);
      return entry?.operation === 'PUT' ? entry.value : null;
    });
    try {
      return value && decodeCapture(value);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  /**
   * Stores the top-K of a turn; a second time overwrites it.
   *
   * @returns K of what is stored; null when the value is too large: the turn then goes on without
   * @throws DependencyUnavailable while NATS is away
   */
  async putTopK(turnId: string, topK: TopK): Promise<number | null> {
    const value = encodeTopK(topK);
    if (value.byteLength + MESSAGE_OVERHEAD_BYTES > this.nats.maxPayload) {
      this.tooLarge.inc();
      this.log.warn('teacher.top-k-too-large', { turnId, bytes: value.byteLength, maxBytes: this.nats.maxPayload });
      return null;
    }
    await this.withBucket('topK', 'written', (kv) => kv.put(turnId, value));
    return topK.k;
  }

  private async withBucket<T>(name: BucketName, what: string, task: (kv: KV) => Promise<T>): Promise<T> {
    try {
      return await task(await this.bucket(name));
    } catch (cause) {
      // Its stream may be gone, as after a restart of the server with an empty store.
      this.opened.delete(name);
      throw new DependencyUnavailable('nats', `the bucket ${name} cannot be ${what}`, 1_000, { cause });
    }
  }

  private bucket(name: BucketName): Promise<KV> {
    let kv = this.opened.get(name);
    if (!kv) {
      kv = this.buckets.open(name, name === 'topK' ? { ttlMs: TOP_K_TTL_MS } : {});
      this.opened.set(name, kv);
    }
    return kv;
  }
}
