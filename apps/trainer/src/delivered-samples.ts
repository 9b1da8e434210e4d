import { contracts, durableName } from '@hindcast/contracts';
import { streamOf, type Nats } from '@hindcast/platform';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Deliveries } from './core/batch-plan';

/** What the broker says of the samples that it gave this trainer, now or before a crash. @throws while the broker is away */
export async function deliveredSamples(nats: Nats): Promise<Deliveries> {
  const { subject } = contracts.sampleReady;
  const manager = await jetstreamManager(nats.connection(), { checkAPI: false });
  const { delivered, num_ack_pending: unacknowledged } = await manager.consumers.info(
    streamOf(subject),
    durableName('trainer', subject),
  );
  return { newestSequence: delivered.stream_seq, unacknowledged };
}
