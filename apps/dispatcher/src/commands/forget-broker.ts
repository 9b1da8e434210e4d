import { TurnId, buckets, contractOf, contracts, type BucketName } from '@hindcast/contracts';
import { WorkerSlots } from '@hindcast/platform';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { decodedPayload } from './core/payload-view';
import { DeadLetterBox, concernedTurn, type StoredLetter } from './dead-letter-box';
import { belongs, type ForgetTarget, type Owner } from './forget-target';
import { withProgress } from '@hindcast/platform/terminal';
import { eraseMessage, jsonOf, storedMessages, streamSize } from './stored-messages';
import type { Terminal } from './terminal';

/** Requests to the broker at once. */
const AT_ONCE = 16;

export interface BrokerCounts {
  messages: number;
  deadLetters: number;
  captures: number;
  feedback: number;
  topK: number;
}

export interface BrokerStep {
  readonly isDryRun: boolean;
  /** Messages of the stream RL from this sequence on. */
  readonly from: number;
  readonly terminal: Terminal;
}

/**
 * Adds turns that the ledger may not know yet: the announcements of captures are small and say whose each turn is.
 */
export async function findAnnounced(connection: NatsConnection, target: ForgetTarget, from = 1): Promise<void> {
  const { subject } = contracts.turnCaptured;
  for await (const message of storedMessages(connection, 'RL', { subject, from })) {
    const owner = ownerOf(jsonOf(message));
    if (belongs(target, owner) && TurnId.safeParse(owner.turnId).success) target.turnIds.add(owner.turnId as string);
  }
}

/** Deletes every message and value of the target's turns, and overwrites their bytes on the server's disk. */
export async function forgetMessages(
  connection: NatsConnection,
  target: ForgetTarget,
  step: BrokerStep,
): Promise<BrokerCounts> {
  const manager = await jetstreamManager(connection);
  const slots = new WorkerSlots(AT_ONCE);
  const found = [
    ...(await turnMessages(connection, target, step)),
    ...(await outcomeMessages(connection, target, step.from)),
  ];
  const letters = await deadLettersOf(connection, target);
  const all = [
    ...found.map((sequence) => ['RL', sequence] as const),
    ...letters.map((sequence) => ['RL_DEAD', sequence] as const),
  ];
  if (!step.isDryRun)
    await withProgress(step.terminal, 'Messages erased', all.length, (onDone) =>
      Promise.all(
        all.map(([stream, sequence]) => slots.run(() => eraseMessage(manager, stream, sequence)).then(() => onDone(1))),
      ),
    );
  const values = (bucket: BucketName, keys: (turnId: string) => readonly string[]): Promise<number> =>
    forgetValues(manager, bucket, [...target.turnIds].flatMap(keys), step.isDryRun, slots);
  return {
    messages: found.length,
    deadLetters: letters.length,
    captures: await values('captures', (turnId) => [turnId]),
    feedback: await values('feedback', (turnId) => [turnId, `late.${turnId}`]),
    topK: await values('topK', (turnId) => [turnId]),
  };
}

/** The newest sequence of the stream RL. */
export const lastMessage = async (connection: NatsConnection): Promise<number> =>
  (await streamSize(connection, 'RL')).last;

/** The id of a message says of which turn it is, so its bytes need not be read; only what came under another kind of id is. */
async function turnMessages(
  connection: NatsConnection,
  target: ForgetTarget,
  { from, terminal }: BrokerStep,
): Promise<number[]> {
  const { messages, last } = await streamSize(connection, 'RL');
  return withProgress(terminal, 'Messages read', Math.min(messages, last - from + 1), (onRead) =>
    turnMessagesFrom(connection, target, from, onRead),
  );
}

async function turnMessagesFrom(
  connection: NatsConnection,
  target: ForgetTarget,
  from: number,
  onRead: (count: number) => void,
): Promise<number[]> {
  const found: number[] = [];
  for await (const message of storedMessages(connection, 'RL', { headersOnly: true, from })) {
    const turnId = turnOf(message.subject, message.headers?.get('Nats-Msg-Id') ?? '');
    const isOwn = turnId === null ? await isTargets(connection, message.seq, target) : target.turnIds.has(turnId);
    if (isOwn) found.push(message.seq);
    onRead(1);
  }
  return found;
}

/** Turn of a message id `<stage>.<turnId>`, also of a replayed message; `null` for any other id. */
function turnOf(subject: string, messageId: string): string | null {
  const name = contractOf(subject);
  const [turnId, stage] = messageId.split('.').reverse();
  if (name === null || stage !== contracts[name].stage) return null;
  return TurnId.safeParse(turnId).data ?? null;
}

async function isTargets(connection: NatsConnection, sequence: number, target: ForgetTarget): Promise<boolean> {
  const message = await (await jetstreamManager(connection)).streams.getMessage('RL', { seq: sequence });
  const owner = message && ownerOf(jsonOf(message));
  return owner !== null && typeof owner.turnId === 'string' && belongs(target, owner);
}

async function outcomeMessages(connection: NatsConnection, target: ForgetTarget, from: number): Promise<number[]> {
  const found: number[] = [];
  const { subject } = contracts.sessionOutcome;
  for await (const message of storedMessages(connection, 'RL', { subject, from }))
    if (target.sessionIds.has(ownerOf(jsonOf(message)).sessionId as string)) found.push(message.seq);
  return found;
}

async function deadLettersOf(connection: NatsConnection, target: ForgetTarget): Promise<number[]> {
  const found: number[] = [];
  const box = await DeadLetterBox.open(connection);
  for await (const letter of box.letters({}, 'oldest first'))
    if (isLetterOf(target, letterOwner(letter))) found.push(letter.id);
  return found;
}

/** A letter without a turn is that of a session's outcome, or of a version. */
const isLetterOf = (target: ForgetTarget, owner: Owner): boolean =>
  belongs(target, owner) || (!owner.turnId && target.sessionIds.has(owner.sessionId as string));

function letterOwner(letter: StoredLetter): Owner {
  const { envelope } = letter;
  if (!envelope) return {};
  const payload = decodedPayload(Buffer.from(envelope.body.payload, 'base64'));
  const owner = ownerOf(payload !== null && typeof payload === 'object' ? (payload as Record<string, unknown>) : null);
  const turnId = concernedTurn(letter) ?? owner.turnId;
  return { ...owner, turnId };
}

/** What an envelope says about whose it is. */
function ownerOf(envelope: Readonly<Record<string, unknown>> | null): Owner {
  const { turnId, tenant, body } = envelope ?? {};
  const { sessionId, userId } = Object(body) as Owner;
  return { turnId, tenant, sessionId, userId };
}

async function forgetValues(
  manager: JetStreamManager,
  bucket: BucketName,
  keys: readonly string[],
  isDryRun: boolean,
  slots: WorkerSlots,
): Promise<number> {
  const stream = `KV_${buckets[bucket]}`;
  if ((await manager.streams.info(stream).catch(() => null)) === null) return 0;
  const forgotten = await Promise.all(
    keys.map((key) =>
      slots.run(async () => {
        const value = await manager.streams.getMessage(stream, { last_by_subj: `$KV.${buckets[bucket]}.${key}` });
        if (value === null) return 0;
        if (!isDryRun) await eraseMessage(manager, stream, value.seq);
        return 1;
      }),
    ),
  );
  return forgotten.reduce<number>((sum, count) => sum + count, 0);
}
