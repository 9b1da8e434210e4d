import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DependencyUnavailable } from '@hindcast/contracts';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { AcknowledgedPublisher } from './acknowledged-publisher';
import { brokerProblem, connectionOptions, type Broker } from './broker';
import { backoffMs } from './core/backoff';
import { gatherWrites } from './gathered-writes';
import { Log } from './log';
import { ensureStreams, type StreamFact } from './topology';

/** Largest message the services send, whatever more the server allows. Bytes. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

const REFRESH_DELAY_MS = 500;

type ConnectedHook = (connection: NatsConnection) => Promise<void>;

/**
 * The process's one connection to NATS. Once started it connects and reconnects for ever; `connected` means that the server answers
 * *and* that streams and buckets are there, so a server that comes back with an empty store is set up again before anyone uses it.
 */
@Injectable()
export class Nats {
  /** Why NATS cannot be used now; `null` while it can. */
  reason: string | null = 'not connected yet';

  private current: NatsConnection | null = null;
  /** The server can be reached; `connected` also needs streams and buckets. */
  private online = false;
  private streams: ReadonlyMap<string, StreamFact> = new Map();
  private closing = false;
  private readonly hooks: ConnectedHook[] = [];
  private readonly publishers = new WeakMap<NatsConnection, AcknowledgedPublisher>();
  private readonly disconnectHooks: (() => void)[] = [];
  private waiters: ((connection: NatsConnection) => void)[] = [];
  private setup: Promise<void> | null = null;
  private refreshTimer: NodeJS.Timeout | null = null;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly options: Broker & { readonly app: string; readonly replicas: number },
    private readonly log: Log,
  ) {}

  get connected(): boolean {
    return this.reason === null;
  }

  /** Largest message that may be published, bytes: the smaller of 8 MiB and what the server says. */
  get maxPayload(): number {
    return Math.min(this.current?.info?.max_payload ?? MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES);
  }

  /** Replicas of the least replicated stream; `null` before the first connection. */
  get replicas(): number | null {
    if (this.streams.size === 0) return null;
    return Math.min(...[...this.streams.values()].map((stream) => stream.replicas));
  }

  /** Changes when the stream was created anew, so that its sequences name other messages than before. */
  incarnation(stream: string): string | null {
    return this.streams.get(stream)?.created ?? null;
  }

  /** @throws DependencyUnavailable while NATS is away. */
  connection(): NatsConnection {
    if (!this.current || this.reason !== null) {
      throw new DependencyUnavailable('nats', this.reason ?? 'not connected');
    }
    return this.current;
  }

  /** @throws DependencyUnavailable while NATS is away. */
  publisher(): AcknowledgedPublisher {
    const connection = this.connection();
    let publisher = this.publishers.get(connection);
    if (!publisher) this.publishers.set(connection, (publisher = new AcknowledgedPublisher(connection)));
    return publisher;
  }

  whenConnected(): Promise<NatsConnection> {
    if (this.current && this.connected) return Promise.resolve(this.current);
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  /** Runs at each connection and reconnection, before `connected` turns true. A hook that throws is tried again with all others. */
  onConnected(hook: ConnectedHook): void {
    this.hooks.push(hook);
    const connection = this.current;
    if (connection && this.connected) void hook(connection).catch(() => this.refresh());
  }

  onDisconnected(hook: () => void): void {
    this.disconnectHooks.push(hook);
  }

  /** Starts connecting; returns at once. */
  start(): void {
    void this.run();
  }

  /** Sets streams and buckets up again after a sign that they are gone. */
  refresh(): void {
    // Not at once: a server that is still deleting a stream's files would delete those of its successor.
    this.refreshTimer ??= setTimeout(() => {
      this.refreshTimer = null;
      const connection = this.current;
      if (connection && !this.closing && !connection.isClosed()) void this.prepare(connection);
    }, REFRESH_DELAY_MS).unref();
  }

  /**
   * Work that the end of the connection must not cut off: {@link close} waits for it first, two seconds at most. A watch that is being
   * opened is such work: between its consumer and its subscription it would leave a timer behind that nobody can stop.
   */
  async uncut<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work);
    try {
      return await work;
    } finally {
      this.underWay.delete(work);
    }
  }

  async close(): Promise<void> {
    this.closing = true;
    const connection = this.current;
    this.lose('closed');
    if (!connection || connection.isClosed()) return;
    await Promise.race([Promise.allSettled(this.underWay), sleep(2_000, undefined, { ref: false })]);
    // Draining an unreachable server would wait for it.
    await Promise.race([connection.drain().catch(() => connection.close()), sleep(2_000, undefined, { ref: false })]);
    if (!connection.isClosed()) await Promise.race([connection.close(), sleep(500, undefined, { ref: false })]);
  }

  private async run(): Promise<void> {
    for (let attempt = 1; !this.closing; attempt++) {
      try {
        const connection = await connect({
          ...connectionOptions(this.options),
          name: this.options.app,
          // A server that takes the connection and says nothing is as good as none.
          timeout: 2_000,
          maxReconnectAttempts: -1,
          ignoreAuthErrorAbort: true,
          reconnectTimeWait: 500,
          reconnectJitter: 250,
          pingInterval: 5_000,
          maxPingOut: 2,
          // Two stack traces for every request are a tenth of what a request costs.
          noAsyncTraces: true,
        });
        gatherWrites(connection);
        attempt = 0;
        this.current = connection;
        await this.follow(connection);
      } catch (error) {
        this.refused(error);
        await sleep(backoffMs(attempt, 200, 2_000, Math.random()), undefined, { ref: false });
      }
    }
  }

  /** Lives as long as the connection object, through all its reconnections. */
  private async follow(connection: NatsConnection): Promise<void> {
    if (this.closing) return void (await connection.close());
    const status = connection.status();
    this.online = true;
    void this.prepare(connection);
    for await (const event of status) {
      if (event.type === 'disconnect') {
        // Also said of a connection that the server refused: the reason for that stays.
        if (!this.online) continue;
        this.lose('disconnected');
        this.log.warn('nats.disconnected');
      } else if (event.type === 'reconnect') {
        this.online = true;
        this.log.info('nats.reconnected');
        void this.prepare(connection);
      } else if (event.type === 'error' && !this.online) {
        // The server is there again, and no longer takes what it took before.
        this.refused(event.error);
      }
    }
    this.lose('connection closed');
  }

  /** Streams and hooks, until all of it worked or the connection is lost again. */
  private prepare(connection: NatsConnection): Promise<void> {
    this.setup ??= this.prepareUntilDone(connection).finally(() => (this.setup = null));
    return this.setup;
  }

  private async prepareUntilDone(connection: NatsConnection): Promise<void> {
    for (let attempt = 1; !this.closing && !connection.isClosed() && this.current === connection; attempt++) {
      try {
        this.streams = await ensureStreams(connection, this.options.replicas);
        for (const hook of this.hooks) await hook(connection);
        if (this.current !== connection || this.closing) return;
        if (!this.online) throw new Error('disconnected');
        this.reason = null;
        for (const resolve of this.waiters.splice(0)) resolve(connection);
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (this.reason !== reason) this.log.warn('nats.setup-failed', { error });
        this.reason = reason;
        await sleep(backoffMs(attempt, 200, 2_000, Math.random()), undefined, { ref: false });
      }
    }
  }

  /** Says once for each reason why there is no connection, and what to do. */
  private refused(error: unknown): void {
    const problem = brokerProblem(error, this.options);
    if (problem !== this.reason) this.log.warn('nats.unreachable', { reason: problem });
    this.lose(problem);
  }

  private lose(reason: string): void {
    const wasConnected = this.connected;
    this.online = false;
    this.reason = reason;
    if (wasConnected) for (const hook of this.disconnectHooks) hook();
  }
}
