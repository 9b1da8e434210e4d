import { jetstreamManager, type ConsumerInfo } from '@nats-io/jetstream';
import { Injectable } from '@nestjs/common';
import { contracts, durableName } from '@hindcast/contracts';
import { Nats, streamOf } from '@hindcast/platform';

/** Nobody is to wait longer for the broker, milliseconds. */
export const PATIENCE_MS = 1_000;

/** Consumer and its stream. Only what the contracts name is shown: others use the same server, and a replay makes consumers of a moment. */
const CONSUMERS = Object.values(contracts).flatMap(({ handlers, subject }) =>
  handlers.map((app) => [streamOf(subject), durableName(app, subject)] as const),
);

/** How far the consumers are behind, those of services that do not run too. */
@Injectable()
export class BusLag {
  constructor(private readonly nats: Nats) {}

  /** By durable name. What does not exist yet, or is not told in time, is left out; nothing is known while the broker is away. */
  async consumers(): Promise<ReadonlyMap<string, ConsumerInfo>> {
    if (!this.nats.connected) return new Map();
    const manager = await jetstreamManager(this.nats.connection(), { checkAPI: false, timeout: PATIENCE_MS });
    const infos = await Promise.all(
      CONSUMERS.map(
        async ([stream, name]) => [name, await manager.consumers.info(stream, name).catch(() => null)] as const,
      ),
    );
    return new Map(infos.filter((entry): entry is readonly [string, ConsumerInfo] => entry[1] !== null));
  }
}
