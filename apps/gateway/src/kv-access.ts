import { Inject, Injectable } from '@nestjs/common';
import { ContractViolation, DependencyUnavailable, buckets, type BucketName } from '@hindcast/contracts';
import { Buckets, CONFIG, Nats } from '@hindcast/platform';
import { PubHeaders, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import type { GatewayConfig } from './config';

/** Bytes that NATS adds to a value: subject and headers. */
const MESSAGE_OVERHEAD_BYTES = 1024;
const DAY_MS = 24 * 3600 * 1000;
/** How much longer than the longest open turn a value is kept. */
const KEPT_LONGER_MS: Partial<Record<BucketName, number>> = {
  // It must outlive everything that is decided about the turn.
  captures: 7 * DAY_MS,
  // Written with every request; an answer is given within a day of it.
  sessionMemory: DAY_MS,
};

/** Buckets and stream management of the present connection, opened once each. */
@Injectable()
export class KvAccess {
  private connection: NatsConnection | null = null;
  private readonly opened = new Map<BucketName, Promise<KV>>();
  /** Those whose opening is over. */
  private readonly open = new Set<BucketName>();
  private managing: Promise<JetStreamManager> | null = null;
  private readonly losses = new Set<(error: DependencyUnavailable) => void>();

  constructor(
    private readonly nats: Nats,
    private readonly buckets: Buckets,
    @Inject(CONFIG) private readonly config: GatewayConfig,
  ) {
    nats.onDisconnected(() => {
      this.forget();
      for (const lose of this.losses) lose(new DependencyUnavailable('nats', 'disconnected'));
    });
  }

  /** Runs whenever the connection is lost. */
  onLost(listener: () => void): void {
    this.nats.onDisconnected(listener);
  }

  /** @throws DependencyUnavailable while NATS is away. */
  kv(name: BucketName): Promise<KV> {
    this.follow();
    const known = this.opened.get(name);
    if (known) return known;
    const keptLonger = KEPT_LONGER_MS[name];
    const options = keptLonger === undefined ? {} : { ttlMs: this.config.OPEN_TURN_TTL_SECONDS * 1000 + keptLonger };
    const opening = this.buckets.open(name, options);
    this.opened.set(name, opening);
    opening.then(
      () => {
        if (this.opened.get(name) === opening) this.open.add(name);
      },
      () => {
        if (this.opened.get(name) === opening) this.opened.delete(name);
      },
    );
    return opening;
  }

  /** Whether the bucket is open on the present connection: nothing has to be waited for. */
  isOpen(name: BucketName): boolean {
    return this.nats.connected && this.nats.connection() === this.connection && this.open.has(name);
  }

  /** The largest value that the server takes, bytes. */
  get maxValueBytes(): number {
    return this.nats.maxPayload - MESSAGE_OVERHEAD_BYTES;
  }

  /**
   * Stores a value; with `previous` only on top of that revision (0: where there is none).
   *
   * @returns its revision
   * @throws ContractViolation when the value is larger than the server takes
   * @throws DependencyUnavailable, JetStreamApiError on another revision, or a NATS error when it is not confirmed
   */
  async put(name: BucketName, key: string, value: string | Uint8Array, previous?: number): Promise<number> {
    if (!this.isOpen(name)) await this.kv(name);
    const bytes = typeof value === 'string' ? Buffer.byteLength(value) : value.length;
    if (bytes > this.maxValueBytes)
      throw new ContractViolation(`KV ${name}`, `${bytes} bytes are more than the ${this.maxValueBytes} of a value`);
    const headers =
      previous === undefined ? undefined : { [PubHeaders.ExpectedLastSubjectSequenceHdr]: String(previous) };
    const stored = await this.nats.publisher().publish(`$KV.${buckets[name]}.${key}`, value, headers);
    return stored.seq;
  }

  manager(): Promise<JetStreamManager> {
    const connection = this.follow();
    if (!this.managing) {
      const managing = jetstreamManager(connection);
      this.managing = managing;
      managing.catch(() => {
        if (this.managing === managing) this.managing = null;
      });
    }
    return this.managing;
  }

  /**
   * The result of `work`, or a DependencyUnavailable as soon as the connection is lost: what was under way then is not answered
   * any more, and nobody should sit out its timeout after the reconnection.
   */
  whileConnected<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.losses.add(reject);
      work.then(
        (result) => {
          this.losses.delete(reject);
          resolve(result);
        },
        (error: unknown) => {
          this.losses.delete(reject);
          reject(error as Error);
        },
      );
    });
  }

  private follow(): NatsConnection {
    const connection = this.nats.connection();
    if (connection !== this.connection) this.forget();
    this.connection = connection;
    return connection;
  }

  private forget(): void {
    this.opened.clear();
    this.open.clear();
    this.managing = null;
  }
}
