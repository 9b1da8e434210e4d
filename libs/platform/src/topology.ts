import { streams } from '@hindcast/contracts';
import {
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/nats-core';
import { DAY_MS, MINUTE_MS } from './durations';

export type StreamName = keyof typeof streams;

/** How long a message can be read again, by a replay or by a service that was away. */
const MAX_AGE_MS = 30 * DAY_MS;
/** Window in which the server itself drops a second message of the same id. The ledger decides beyond it. */
const DUPLICATE_WINDOW_MS = 10 * MINUTE_MS;

/** The stream that stores `subject`. */
export function streamOf(subject: string): StreamName {
  const name = (Object.keys(streams) as StreamName[]).find((stream) =>
    (streams[stream] as readonly string[]).includes(subject),
  );
  if (!name) throw new Error(`no stream stores ${subject}`);
  return name;
}

/** A stream as it is on the server. */
export interface StreamFact {
  readonly replicas: number;
  /** Time of creation as the server wrote it: another one means that the stream lost all it held. */
  readonly created: string;
}

/**
 * Creates the streams that are missing and adds subjects that an older version did not know.
 * Subjects are never removed: during a rolling upgrade an older service must not cut off a newer one.
 */
export async function ensureStreams(
  connection: NatsConnection,
  replicas: number,
): Promise<ReadonlyMap<string, StreamFact>> {
  const manager = await jetstreamManager(connection);
  const names = Object.keys(streams) as StreamName[];
  const infos = await Promise.all(names.map((name) => ensureStream(manager, name, replicas)));
  return new Map(
    infos.map(({ config, created }) => [config.name, { replicas: config.num_replicas, created: String(created) }]),
  );
}

async function ensureStream(manager: JetStreamManager, name: StreamName, replicas: number): Promise<StreamInfo> {
  const subjects: readonly string[] = streams[name];
  const existing = await manager.streams.info(name).catch((error: unknown) => {
    if (isNotFound(error)) return null;
    throw error;
  });
  if (!existing) {
    return manager.streams.add({
      name,
      subjects: [...subjects],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: replicas,
      max_age: nanos(MAX_AGE_MS),
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    });
  }
  const missing = subjects.filter((subject) => !existing.config.subjects.includes(subject));
  if (missing.length > 0 || existing.config.num_replicas < replicas) {
    return manager.streams.update(name, {
      ...existing.config,
      subjects: [...existing.config.subjects, ...missing],
      num_replicas: Math.max(existing.config.num_replicas, replicas),
    });
  }
  return existing;
}

export const isNotFound = (error: unknown): boolean =>
  error instanceof Error && (/not found/.test(error.message) || (error as { code?: unknown }).code === 404);
