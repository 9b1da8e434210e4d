import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';

/** Messages asked for at a time, whole ones and their headers alone. */
const BATCH = 64;
const HEADERS_BATCH = 1_000;
const FETCH_MS = 10_000;
const IDLE_MS = 60_000;

export interface MessageRange {
  /** `*` and `>` as in NATS; all subjects unless given. */
  readonly subject?: string;
  /** Without the messages' bytes. */
  readonly headersOnly?: boolean;
  /** First sequence to read. */
  readonly from?: number;
}

/** What a stream holds now, oldest first. Nothing is acknowledged, and no consumer of a service is touched. A stream that is not there is empty. */
export async function* storedMessages(
  connection: NatsConnection,
  stream: string,
  { subject, headersOnly = false, from = 1 }: MessageRange = {},
): AsyncGenerator<JsMsg> {
  const manager = await jetstreamManager(connection);
  const info = await manager.streams.info(stream).catch(() => null);
  if (info === null || info.state.messages === 0 || info.state.last_seq < from) return;
  const { name, num_pending } = await manager.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
    headers_only: headersOnly,
    mem_storage: true,
    inactive_threshold: nanos(IDLE_MS),
    ...(subject === undefined ? {} : { filter_subject: subject }),
  });
  try {
    const consumer = await jetstream(connection).consumers.get(stream, name);
    for (let left = num_pending; left > 0;) {
      const count = Math.min(left, headersOnly ? HEADERS_BATCH : BATCH);
      const before = left;
      for await (const message of await consumer.fetch({ max_messages: count, expires: FETCH_MS })) {
        left--;
        yield message;
      }
      // The rest has been deleted meanwhile.
      if (left === before) return;
    }
  } finally {
    await manager.consumers.delete(stream, name).catch(() => undefined);
  }
}

/** How many messages a stream holds, and the newest one's sequence; zeros where there is no such stream. */
export async function streamSize(
  connection: NatsConnection,
  stream: string,
): Promise<{ readonly messages: number; readonly last: number }> {
  const manager = await jetstreamManager(connection);
  const info = await manager.streams.info(stream).catch(() => null);
  return { messages: info?.state.messages ?? 0, last: info?.state.last_seq ?? 0 };
}

/** The value of a message as JSON; `null` when it is none. */
export function jsonOf(message: Pick<JsMsg, 'json'>): Readonly<Record<string, unknown>> | null {
  try {
    const value = message.json<unknown>();
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Overwrites the message on disk. One that is gone already is as good. */
export async function eraseMessage(manager: JetStreamManager, stream: string, sequence: number): Promise<void> {
  await manager.streams.deleteMessage(stream, sequence, true).catch(async (error: unknown) => {
    if ((await manager.streams.getMessage(stream, { seq: sequence })) !== null) throw error;
  });
}
