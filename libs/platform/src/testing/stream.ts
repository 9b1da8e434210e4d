import { DeadLetter, durableName, type AppName } from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { streamOf } from '../topology';

/** Messages of a subject that the app has not settled yet: pending + ack pending. */
export async function lag(connection: NatsConnection, app: AppName, subject: string): Promise<number> {
  const manager = await jetstreamManager(connection);
  const info = await manager.consumers.info(streamOf(subject), durableName(app, subject));
  return info.num_pending + info.num_ack_pending;
}

/** Every stored dead letter, oldest first, with the turn its envelope names. */
export async function deadLetters(connection: NatsConnection): Promise<(DeadLetter & { turnId: string | null })[]> {
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info('RL_DEAD');
  const letters = [];
  for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
    const message = await manager.streams.getMessage('RL_DEAD', { seq });
    const envelope = message!.json<{ turnId: string | null; body: unknown }>();
    letters.push({ ...DeadLetter.parse(envelope.body), turnId: envelope.turnId });
  }
  return letters;
}

/** Headers of the newest message of a subject. */
export async function newestHeaders(connection: NatsConnection, subject: string): Promise<Record<string, string>> {
  const manager = await jetstreamManager(connection);
  const message = await manager.streams.getMessage(streamOf(subject), { last_by_subj: subject });
  return Object.fromEntries(message!.header.keys().map((name) => [name, message!.header.get(name)]));
}
