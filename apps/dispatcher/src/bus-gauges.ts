import { jetstreamManager } from '@nats-io/jetstream';
import { Injectable } from '@nestjs/common';
import { buckets, contracts, durableName, streams } from '@hindcast/contracts';
import { Metrics, Nats, streamOf } from '@hindcast/platform';

/** A scrape is not to wait longer for the broker, milliseconds. */
const PATIENCE_MS = 1_000;

/** Consumer and its stream. Only what the contracts name is shown: others use the same server, and a replay makes consumers of a moment. */
const CONSUMERS = Object.values(contracts).flatMap(({ handlers, subject }) =>
  handlers.map((app) => [streamOf(subject), durableName(app, subject)] as const),
);
const STREAMS = [...Object.keys(streams), ...Object.values(buckets).map((bucket) => `KV_${bucket}`)];

/**
 * What the broker holds, on `/metrics`: how far each consumer is behind, and how large streams and buckets are. A service shows its own
 * lag too; this one also shows that of services which do not run.
 */
@Injectable()
export class BusGauges {
  constructor(
    private readonly nats: Nats,
    private readonly metrics: Metrics,
  ) {}

  start(): void {
    const { metrics } = this;
    const consumer = (name: string, help: string) => metrics.gauge(`bus_consumer_${name}`, help, ['consumer']);
    const stream = (name: string, help: string) => metrics.gauge(`bus_stream_${name}`, help, ['stream']);
    const pending = consumer('pending_messages', 'Messages that were not delivered yet');
    const unsettled = consumer('ack_pending_messages', 'Messages that were delivered and are not settled');
    const repeated = consumer('redelivered_messages', 'Of these, delivered more than once');
    const messages = stream('messages', 'Messages that a stream holds; of RL_DEAD: dead letters');
    const bytes = stream('bytes', 'Bytes that a stream holds');
    metrics.onScrape('bus', async () => {
      // Unknown is no number: the series disappear until the broker answers.
      for (const gauge of [pending, unsettled, repeated, messages, bytes]) gauge.reset();
      if (!this.nats.connected) return;
      const manager = await jetstreamManager(this.nats.connection(), { checkAPI: false, timeout: PATIENCE_MS });
      // What does not exist yet, or is not told in time, has no series.
      await Promise.all([
        ...CONSUMERS.map(async ([of, name]) => {
          const info = await manager.consumers.info(of, name).catch(() => null);
          if (info === null) return;
          pending.set({ consumer: name }, info.num_pending);
          unsettled.set({ consumer: name }, info.num_ack_pending);
          repeated.set({ consumer: name }, info.num_redelivered);
        }),
        ...STREAMS.map(async (name) => {
          const info = await manager.streams.info(name).catch(() => null);
          if (info === null) return;
          messages.set({ stream: name }, info.state.messages);
          bytes.set({ stream: name }, info.state.bytes);
        }),
      ]);
    });
  }
}
