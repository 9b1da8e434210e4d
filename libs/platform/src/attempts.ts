import { StorageType } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { DAY_MS } from './durations';
import type { Nats } from './nats';

/** Private to the platform; no app opens it. */
const BUCKET = 'attempts';

/**
 * Counts the deliveries of a message beside the server, whose own count cannot be trusted after a crash: when the pull of a dead client
 * is still queued as its message comes again, servers of the 2.9 and 2.10 series can hand the message out as new (nats-server #5346),
 * and a message that kills its worker would never come to its end.
 */
export class Attempts {
  private bucket: KV | null = null;

  constructor(
    private readonly nats: Nats,
    replicas: number,
  ) {
    nats.onConnected(async (connection: NatsConnection) => {
      this.bucket = await new Kvm(connection).create(BUCKET, {
        history: 1,
        storage: StorageType.File,
        replicas,
        ttl: DAY_MS,
      });
    });
  }

  /**
   * Writes down one more delivery before its handler runs, and says which one it is: never less than what the server says.
   *
   * @param key   names consumer, stream position and time of storage, so that it survives a stream that is created anew
   * @param fresh nobody can have had the message before, so there is nothing to read
   */
  async next(key: string, { serverCount, fresh }: { serverCount: number; fresh: boolean }): Promise<number> {
    if (!this.bucket) return serverCount;
    try {
      const entry = fresh ? null : await this.bucket.get(key);
      const count = Math.max(serverCount, entry ? Number(entry.string()) + 1 : 1);
      // What `bucket.put` sends, without an error object and a timer for each message.
      await this.nats.publisher().publish(`$KV.${BUCKET}.${key}`, String(count));
      return count;
    } catch {
      // Without the bucket the server's count has to do; the message itself must not wait for it.
      return serverCount;
    }
  }
}
