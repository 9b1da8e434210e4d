import { Injectable } from '@nestjs/common';
import { DependencyUnavailable, Feedback, type BucketName, readNewer } from '@hindcast/contracts';
import { Buckets, Log } from '@hindcast/platform';
import type { KV } from '@nats-io/kv';

/** What the other services left in the broker's buckets for the decision on a turn. */
@Injectable()
export class TurnValues {
  private readonly opened = new Map<BucketName, Promise<KV>>();

  constructor(
    private readonly buckets: Buckets,
    private readonly log: Log,
  ) {}

  /** The capture's bytes, or `null` when there are none. @throws DependencyUnavailable while NATS is away. */
  capture(turnId: string): Promise<Uint8Array | null> {
    return this.get('captures', turnId);
  }

  /** @throws DependencyUnavailable while NATS is away. */
  async feedback(key: string): Promise<Feedback | null> {
    const value = await this.get('feedback', key);
    if (value === null) return null;
    const parsed = readNewer(Feedback, jsonOf(value));
    if (!parsed.success) this.log.error('feedback.malformed', { key });
    return parsed.data ?? null;
  }

  /**
   * What a person said last, also what came too late for the decision (`late.<turn>`).
   *
   * @throws DependencyUnavailable while the broker is away
   */
  async newestFeedback(turnId: string): Promise<Feedback | null> {
    const [inTime, late] = await Promise.all([this.feedback(turnId), this.feedback(`late.${turnId}`)]);
    if (inTime === null || late === null) return late ?? inTime;
    return late.at >= inTime.at ? late : inTime;
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
