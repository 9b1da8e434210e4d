import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { buckets, type BucketName } from '@hindcast/contracts';
import { jetstreamManager, StorageType } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { nanos, type NatsConnection } from '@nats-io/nats-core';
import { DAY_MS } from './durations';
import { Nats } from './nats';

/** A capture outlives the longest open turn by a week; the gateway, which knows that time, passes the sum. */
const CAPTURE_TTL_MS = 14 * DAY_MS;

/** Making a stream takes the server a few milliseconds. */
const CRADLE_MS = 250;

export interface BucketOptions {
  /** How long a value is kept, milliseconds. Only `captures` expire unless told otherwise. */
  readonly ttlMs?: number;
}

/** The KV buckets that the contracts name, created on demand. */
@Injectable()
export class Buckets {
  private readonly opened = new Map<BucketName, BucketOptions>();

  constructor(
    private readonly nats: Nats,
    private readonly replicas: number,
  ) {
    // A server that comes back with an empty store has lost the buckets too.
    nats.onConnected(async (connection) => {
      for (const [name, options] of this.opened) await this.create(connection, name, options);
    });
  }

  /** @throws DependencyUnavailable while NATS is away. The bucket stays usable through reconnections. */
  async open(name: BucketName, options: BucketOptions = {}): Promise<KV> {
    const connection = this.nats.connection();
    const bucket = await this.create(connection, name, options);
    this.opened.set(name, options);
    return bucket;
  }

  private async create(connection: NatsConnection, name: BucketName, options: BucketOptions): Promise<KV> {
    const ttl = options.ttlMs ?? (name === 'captures' ? CAPTURE_TTL_MS : 0);
    const bucket = await new Kvm(connection).create(buckets[name], {
      history: 1,
      storage: StorageType.File,
      replicas: this.replicas,
      ttl,
    });
    await outOfTheCradle(bucket);
    if (options.ttlMs !== undefined) await keepFor(connection, `KV_${buckets[name]}`, options.ttlMs);
    return bucket;
  }
}

/**
 * nats-server 2.9 shows a stream before its store is there, and dies of a read in that moment. Services start together and open
 * the same buckets, so nobody reads one that another may still be making.
 */
async function outOfTheCradle(bucket: KV): Promise<void> {
  const { streamInfo } = await bucket.status();
  const age = Date.now() - Date.parse(streamInfo.created);
  if (age < CRADLE_MS) await sleep(Math.min(CRADLE_MS, CRADLE_MS - age));
}

/** Changes the age limit of a bucket that exists with another one. */
async function keepFor(connection: NatsConnection, stream: string, ttlMs: number): Promise<void> {
  const manager = await jetstreamManager(connection);
  const { config } = await manager.streams.info(stream);
  const max_age = nanos(ttlMs);
  if (config.max_age === max_age) return;
  // The server refuses a duplicate window that is longer than the age limit.
  const duplicate_window = Math.min(config.duplicate_window, max_age);
  await manager.streams.update(stream, { ...config, max_age, duplicate_window });
}
