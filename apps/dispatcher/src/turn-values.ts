import { Injectable } from '@nestjs/common';
import {
  CurrentPolicy,
  DependencyUnavailable,
  Feedback,
  decodeCapture,
  type BucketName,
  type Capture,
} from '@hindcast/contracts';
import { Buckets, Log } from '@hindcast/platform';
import type { KV } from '@nats-io/kv';
import type { CaptureFailure } from './core/decide';

/** What the other services left in the broker's buckets for the decision on a turn. */
@Injectable()
export class TurnValues {
  private readonly opened = new Map<BucketName, Promise<KV>>();

  constructor(
    private readonly buckets: Buckets,
    private readonly log: Log,
  ) {}

  /** @throws DependencyUnavailable while NATS is away. */
  async capture(turnId: string): Promise<Capture | CaptureFailure> {
    const value = await this.get('captures', turnId);
    if (value === null) return 'capture-missing';
    try {
      return decodeCapture(value);
    } catch (error) {
      this.log.error('capture.malformed', { turnId, error });
      return 'capture-malformed';
    }
  }

  /** @throws DependencyUnavailable while NATS is away. */
  async feedback(turnId: string): Promise<Feedback | null> {
    const value = await this.get('feedback', turnId);
    if (value === null) return null;
    const parsed = Feedback.safeParse(jsonOf(value));
    if (!parsed.success) this.log.error('feedback.malformed', { turnId });
    return parsed.data ?? null;
  }

  /** The version that serves; 0 before the first one. @throws DependencyUnavailable while NATS is away. */
  async currentVersion(): Promise<number> {
    const value = await this.get('policy', 'current');
    if (value === null) return 0;
    const parsed = CurrentPolicy.safeParse(jsonOf(value));
    // Not this turn's fault, and a guess would let stale samples through.
    if (!parsed.success) throw new DependencyUnavailable('policy', 'policy/current is not readable');
    return parsed.data.version;
  }

  private async get(bucket: BucketName, key: string): Promise<Uint8Array | null> {
    try {
      let opened = this.opened.get(bucket);
      if (!opened) this.opened.set(bucket, (opened = this.buckets.open(bucket)));
      const entry = await (await opened).get(key);
      return entry?.operation === 'PUT' ? entry.value : null;
    } catch (cause) {
      this.opened.delete(bucket);
      if (cause instanceof DependencyUnavailable) throw cause;
      throw new DependencyUnavailable('nats', `bucket ${bucket} does not answer`, undefined, { cause });
    }
  }
}

function jsonOf(value: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(value));
  } catch {
    return undefined;
  }
}
