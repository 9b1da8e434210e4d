import { Feedback, buckets, readNewer } from '@hindcast/contracts';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from '../database';
import type { RowFilter } from './options';
import { rowCondition } from './read-recordings';
import { jsonOf, storedMessages } from './stored-messages';

/** What people said, by turn; of several words the last one. */
export type FeedbackByTurn = Map<string, Feedback>;

const add = (known: FeedbackByTurn, turnId: string, feedback: Feedback): void => {
  const before = known.get(turnId);
  if (!before || before.at <= feedback.at) known.set(turnId, feedback);
};

/** Feedback that decisions were made with. */
export async function addRecordedFeedback(database: Database, filter: RowFilter, known: FeedbackByTurn): Promise<void> {
  const rows = await database.run(
    (prisma) => prisma.$queryRaw<{ turnId: string; feedback: string }[]>`
      SELECT "turnId", feedback FROM recordings WHERE feedback IS NOT NULL AND ${rowCondition(filter, 'decidedAt')}`,
  );
  for (const { turnId, feedback } of rows) add(known, turnId, Feedback.parse(JSON.parse(feedback)));
}

const PREFIX = `$KV.${buckets.feedback}.`;

/** Feedback in the bucket: what came in time under the turn's id, what came late under `late.` and the turn's id. */
export async function addStoredFeedback(connection: NatsConnection, known: FeedbackByTurn): Promise<void> {
  for await (const message of storedMessages(connection, `KV_${buckets.feedback}`)) {
    const feedback = readNewer(Feedback, jsonOf(message));
    if (feedback.success) add(known, message.subject.slice(PREFIX.length).replace(/^late\./, ''), feedback.data);
  }
}
