import { jetstreamManager } from '@nats-io/jetstream';
import { Injectable } from '@nestjs/common';
import { buckets, streams } from '@hindcast/contracts';
import { Metrics, Nats } from '@hindcast/platform';
import { BusLag, PATIENCE_MS } from './bus-lag';

const STREAMS = [...Object.keys(streams), ...Object.values(buckets).map((bucket) => `KV_${bucket}`)];

/**
 * What the broker holds, on `/metrics`: how far each consumer is behind, and how large streams and buckets are. A service shows its own
 * lag too; this one also shows that of services which do not run.
 */
@Injectable()
export class BusGauges {
  constructor(
    private readonly nats: Nats,
    private readonly lag: BusLag,
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
      const consumersTold = this.lag.consumers().then((consumers) => {
        for (const [name, info] of consumers) {
          pending.set({ consumer: name }, info.num_pending);
          unsettled.set({ consumer: name }, info.num_ack_pending);
          repeated.set({ consumer: name }, info.num_redelivered);
        }
      });
      await Promise.all([
        consumersTold,
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
