import { DependencyUnavailable, buckets } from '@hindcast/contracts';
import { JetStreamApiError, PubHeaders, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { belongs, type ForgetTarget } from './forget-target';
import { eraseMessage, jsonOf, storedMessages } from './stored-messages';

const STREAM = `KV_${buckets.openTurns}`;
const SUBJECT = `$KV.${buckets.openTurns}`;
/** Gateways change these lists too. */
const MAX_ROUNDS = 50;

/** What is read of the gateways' records: whose a turn is (apps/gateway core/open-turn.ts). */
const Entry = z.looseObject({
  turnId: z.string(),
  tenant: z.string().optional(),
  sessionId: z.string().nullable().optional(),
  captured: z.looseObject({ userId: z.string().nullable().optional() }).optional(),
});
type Entry = z.infer<typeof Entry>;

/**
 * Takes the target's turns out of the gateways' records of open turns: nothing will be paired with them. Turns that only these records
 * know are added to the target.
 *
 * @returns how many turns were open
 */
export async function forgetOpenTurns(
  connection: NatsConnection,
  target: ForgetTarget,
  isDryRun: boolean,
): Promise<number> {
  const open = new Set<string>();
  const subjects: string[] = [];
  for await (const message of storedMessages(connection, STREAM, { subject: `${SUBJECT}.turn.*` })) {
    const own = entriesOf(jsonOf(message)).filter((entry) => isTargets(target, entry));
    if (own.length > 0) subjects.push(message.subject);
    for (const { turnId } of own) {
      open.add(turnId);
      target.turnIds.add(turnId);
    }
  }
  for await (const message of storedMessages(connection, STREAM, { subject: `${SUBJECT}.session.*` }))
    if (
      isTargetsSession(target, message.subject) ||
      entriesOf(jsonOf(message)).some((entry) => isTargets(target, entry))
    )
      subjects.push(message.subject);
  if (!isDryRun) for (const subject of subjects) await withoutTarget(connection, subject, target);
  return open.size;
}

const isTargets = (target: ForgetTarget, { captured, ...entry }: Entry): boolean =>
  belongs(target, { ...entry, userId: captured?.userId });

/** A session that only the ledger takes for finished may have a turn that the ledger does not know yet. */
const isTargetsSession = ({ selector, sessionIds }: ForgetTarget, subject: string): boolean =>
  (selector === 'session' || selector === 'tenant') && sessionIds.has(subject.slice(`${SUBJECT}.session.`.length));

function entriesOf(value: unknown): Entry[] {
  return z.array(Entry).safeParse(value).data ?? [];
}

/** Writes the list of a key without the target's turns, on top of nothing but what was read. */
async function withoutTarget(connection: NatsConnection, subject: string, target: ForgetTarget): Promise<void> {
  const manager = await jetstreamManager(connection);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const message = await manager.streams.getMessage(STREAM, { last_by_subj: subject });
    if (message === null) return;
    const entries = entriesOf(jsonOf(message));
    const left = isTargetsSession(target, subject) ? [] : entries.filter((entry) => !isTargets(target, entry));
    if (left.length === 0) return eraseMessage(manager, STREAM, message.seq);
    if (left.length === entries.length) return;
    const expected = headers();
    expected.set(PubHeaders.ExpectedLastSubjectSequenceHdr, String(message.seq));
    try {
      await jetstream(connection).publish(subject, JSON.stringify(left), { headers: expected });
      return;
    } catch (error) {
      if (!(error instanceof JetStreamApiError)) throw error;
    }
  }
  throw new DependencyUnavailable('nats', `${subject} changes all the time`);
}
