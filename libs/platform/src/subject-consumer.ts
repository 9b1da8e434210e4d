import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableName, type AppName } from '@hindcast/contracts';
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/nats-core';
import type { Attempts } from './attempts';
import type { Bus } from './bus';
import { backoffMs } from './core/backoff';
import { Delivery, type Handler } from './delivery';
import { exportDeliveries } from './delivery-metrics';
import { SECOND_MS } from './durations';
import type { Log } from './log';
import type { Metrics } from './metrics';
import type { Nats } from './nats';
import { isNotFound, streamOf } from './topology';

/** What a consumer works with. */
export interface Services {
  readonly nats: Nats;
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly attempts: Attempts;
}

/** Milliseconds. Tests shorten them. */
export interface ConsumerTiming {
  /** The server hands a message to another worker when nothing was heard of it for this long. */
  readonly ackWaitMs: number;
  /** Back-off of a failed message: first delay, and the longest. */
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
  /** Longest wait in place for a dependency that is away, unless it asks for more. */
  readonly waitMaxMs: number;
}

export const DEFAULT_TIMING: ConsumerTiming = {
  ackWaitMs: 30 * SECOND_MS,
  retryBaseMs: SECOND_MS,
  retryMaxMs: 60 * SECOND_MS,
  waitMaxMs: 15 * SECOND_MS,
};

export interface ConsumerOptions {
  readonly app: AppName;
  readonly subject: string;
  readonly concurrency: number;
  readonly maxDeliveries: number;
  readonly waits: boolean;
  readonly timing: ConsumerTiming;
}

/** A pull waits this long on the server; its heartbeats show within seconds that the consumer is gone. */
const PULL_MS = 30 * SECOND_MS;
const PULL_HEARTBEAT_MS = 5 * SECOND_MS;

/**
 * One durable consumer of this app: pulls no more messages than it can handle at once, so that no message waits in a buffer with its
 * acknowledgement clock running, and sets the consumer up again whenever it is lost.
 */
export class SubjectConsumer {
  readonly durable: string;
  private readonly inFlight = new Map<string, Delivery>();
  private readonly pulls = new Set<ConsumerMessages>();
  private readonly shutdown = new AbortController();
  private wake: () => void = () => undefined;
  private running: Promise<void> | null = null;
  private heartbeat: NodeJS.Timeout | null = null;

  constructor(
    private readonly options: ConsumerOptions,
    private readonly handler: Handler,
    private readonly services: Services,
  ) {
    this.durable = durableName(options.app, options.subject);
    // Whoever waits for the server or the shutdown listens; Node's limit of ten would print a warning about a leak.
    setMaxListeners(0, this.shutdown.signal);
    services.nats.onDisconnected(() => this.stopPulls());
    this.exportLag();
    exportDeliveries(services.metrics, options.subject);
  }

  start(): void {
    this.running = this.run();
    // A handler may take hours. The server hears of each three times per acknowledgement wait.
    this.heartbeat = setInterval(() => {
      for (const delivery of this.inFlight.values()) delivery.beat();
    }, this.options.timing.ackWaitMs / 3);
  }

  async drain(limitMs: number): Promise<void> {
    this.shutdown.abort();
    for (const delivery of this.inFlight.values()) delivery.stopWaiting();
    this.stopPulls();
    this.wake();
    await this.running;
    const finished = Promise.all([...this.inFlight.values()].map((delivery) => delivery.settled));
    if (!this.options.waits) await Promise.race([finished, sleep(limitMs, undefined, { ref: false })]);
    for (const delivery of this.inFlight.values()) delivery.giveBack();
    if (this.heartbeat) clearInterval(this.heartbeat);
  }

  private async run(): Promise<void> {
    for (let attempt = 1; !this.shutdown.signal.aborted; attempt++) {
      try {
        const connection = await this.connected();
        if (!connection) return;
        const consumer = await this.ensure(connection);
        await this.pump(consumer, () => (attempt = 0));
      } catch (error) {
        if (this.shutdown.signal.aborted) return;
        this.services.log.warn('consumer.lost', { durable: this.durable, error });
        if (this.services.nats.connected) this.services.nats.refresh();
        await sleep(backoffMs(attempt, 100, 2_000, Math.random()));
      }
    }
  }

  private connected(): Promise<NatsConnection | null> {
    const aborted = new Promise<null>((resolve) => {
      if (this.shutdown.signal.aborted) resolve(null);
      this.shutdown.signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    return Promise.race([this.services.nats.whenConnected(), aborted]);
  }

  private async ensure(connection: NatsConnection): Promise<Consumer> {
    const { subject, concurrency, timing } = this.options;
    const stream = streamOf(subject);
    const manager = await jetstreamManager(connection);
    const limits = {
      ack_wait: nanos(timing.ackWaitMs),
      // The dead letter is written by the strategy, which can say why; the server would drop the message without a word.
      max_deliver: -1,
      // Shared by all workers; messages that wait for their next attempt count too.
      max_ack_pending: Math.max(4_096, concurrency * 16),
    };
    const existing = await manager.consumers.info(stream, this.durable).catch((error: unknown) => {
      if (isNotFound(error)) return null;
      throw error;
    });
    if (!existing) {
      await manager.consumers.add(stream, {
        ...limits,
        durable_name: this.durable,
        filter_subject: subject,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
      });
    } else if (
      existing.config.ack_wait !== limits.ack_wait ||
      existing.config.max_ack_pending !== limits.max_ack_pending
    ) {
      await manager.consumers.update(stream, this.durable, limits);
    }
    return jetstream(connection).consumers.get(stream, this.durable);
  }

  /** Keeps requests open for the free slots. Ends by an error when a pull fails, silently at shutdown and at a disconnection. */
  private async pump(consumer: Consumer, onMessage: () => void): Promise<void> {
    let failure: unknown = null;
    const { nats } = this.services;
    // Messages asked for that have not come yet.
    const asked = { count: 0 };
    while (!this.shutdown.signal.aborted && nats.connected && failure === null) {
      const free = this.options.concurrency - this.inFlight.size - asked.count;
      // Few large pulls instead of one for each slot; with nothing asked for, any free slot is worth one.
      if (free >= Math.max(1, this.options.concurrency / 4) || (free > 0 && asked.count === 0)) {
        asked.count += free;
        void this.pull(consumer, free, asked, onMessage).catch((error: unknown) => {
          failure ??= error;
          this.wake();
        });
      }
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    this.stopPulls();
    if (failure !== null) throw failure;
  }

  private async pull(
    consumer: Consumer,
    count: number,
    asked: { count: number },
    onMessage: () => void,
  ): Promise<void> {
    let outstanding = count;
    let pull: ConsumerMessages | null = null;
    try {
      pull = await consumer.fetch({ max_messages: count, expires: PULL_MS, idle_heartbeat: PULL_HEARTBEAT_MS });
      this.pulls.add(pull);
      if (this.shutdown.signal.aborted || !this.services.nats.connected) pull.stop();
      for await (const message of pull) {
        outstanding--;
        asked.count--;
        onMessage();
        this.take(message);
      }
    } finally {
      if (pull) this.pulls.delete(pull);
      asked.count -= outstanding;
      this.wake();
    }
  }

  private take(message: JsMsg): void {
    // It arrived while the pull was being stopped.
    if (this.shutdown.signal.aborted) return message.nak();
    // Stream position and time name the message: a stream that was created anew counts from 1 again.
    const key = `${message.info.streamSequence}@${message.info.timestampNanos}`;
    const known = this.inFlight.get(key);
    // Delivered again while its handler still runs, as after a lost connection: one handler, and the newest delivery is settled.
    if (known) return known.renew(message);
    const delivery = new Delivery(message, this.handler, {
      ...this.options,
      durable: this.durable,
      stream: message.info.stream,
      shutdown: this.shutdown.signal,
      ...this.services,
    });
    this.inFlight.set(key, delivery);
    void delivery.settled.finally(() => {
      this.inFlight.delete(key);
      this.wake();
    });
  }

  private stopPulls(): void {
    for (const pull of this.pulls) pull.stop();
    this.pulls.clear();
    this.wake();
  }

  private exportLag(): void {
    const { metrics } = this.services;
    metrics.onScrape(`lag ${this.durable}`, async () => {
      const gauge = metrics.gauge('consumer_lag', 'Messages that are not settled yet: pending + ack pending', [
        'durable',
      ]);
      try {
        const manager = await jetstreamManager(this.services.nats.connection(), { checkAPI: false, timeout: 1_000 });
        const info = await manager.consumers.info(streamOf(this.options.subject), this.durable);
        gauge.set({ durable: this.durable }, info.num_pending + info.num_ack_pending);
      } catch {
        // Unknown is no number: the series disappears until the server answers.
        gauge.remove({ durable: this.durable });
      }
    });
  }
}
