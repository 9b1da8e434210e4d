import { HindcastError, contractOf, durableName, contracts, messageSchema } from '@hindcast/contracts';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { consequenceOf } from '../core/dead-letter';
import type { Database } from '../database';
import { settleLetter } from '../letter-outcome';
import { decodedPayload } from './core/payload-view';
import type { DeadLetterBox, StoredLetter } from './dead-letter-box';
import { reopenTurn } from './reopen-turn';

export interface Replayed {
  readonly id: number;
  readonly subject: string;
  readonly turnId: string | null;
  /** The ledger took back what the letter had made of the turn. */
  readonly reopened: boolean;
}

export interface ReplayMeans {
  readonly box: DeadLetterBox;
  readonly connection: NatsConnection;
  readonly database: Database;
  /** Also what breaks its contract and would be buried again. */
  readonly force: boolean;
}

const RECORDER = durableName('dispatcher', contracts.dead.subject);

/**
 * Gives a message that failed for good to its handlers again: first the ledger takes back what the letter made of the turn, then the
 * message is published under its own id with a mark that lets it through de-duplication, then the letter is removed. A crash in between
 * leaves the letter where it is; replayed twice, a message is handled twice, which every handler bears.
 *
 * @throws HindcastError saying why the letter stays: unreadable, its bytes gone, still breaking its contract, just being recorded
 */
export async function replayLetter(stored: StoredLetter, means: ReplayMeans): Promise<Replayed> {
  const { box, connection, database } = means;
  const { id, envelope } = stored;
  if (!envelope) throw new HindcastError('contract-violation', `letter ${id} cannot be read`);
  const { body: letter, turnId } = envelope;
  const payload = await payloadOf(stored, box);
  if (!means.force) assertKeepsContract(id, letter.subject, payload);
  const consequence = consequenceOf(letter, turnId);
  if ((await box.recorded(id, RECORDER)) === 'now')
    throw new HindcastError('dependency-unavailable', `the dispatcher is just recording letter ${id}; try again`);
  const reopened = consequence !== null && (await reopenTurn(database, consequence, letter.code));
  // The mark stands in front: whoever buries the message again finds the turn at the end of its id.
  const msgID = `replay-${id}.${letter.messageId ?? turnId ?? 'message'}`;
  await jetstream(connection).publish(letter.subject, payload, { msgID });
  await box.remove(id);
  await settleLetter(database, { sequence: id, at: envelope.at }, 'replayed');
  return { id, subject: letter.subject, turnId: consequence?.turnId ?? turnId, reopened };
}

/** @throws HindcastError `not-found` when the bytes of a large message are gone from its stream */
export async function payloadOf({ id, envelope }: StoredLetter, box: DeadLetterBox): Promise<Uint8Array> {
  const { payload, error } = envelope!.body;
  if (payload !== '') return Buffer.from(payload, 'base64');
  // What was too large for a letter stayed in its stream (libs/platform delivery).
  const [, stream, sequence] = /^payload of \d+ bytes kept in (\w+) at (\d+)/.exec(error) ?? [];
  const bytes = stream === undefined ? new Uint8Array() : await box.kept(stream, Number(sequence));
  if (bytes === null)
    throw new HindcastError('not-found', `the message of letter ${id} is gone: ${stream} no longer holds ${sequence}`);
  return bytes;
}

function assertKeepsContract(id: number, subject: string, payload: Uint8Array): void {
  const name = contractOf(subject);
  const parsed = name === null ? null : messageSchema(name).safeParse(decodedPayload(payload));
  if (parsed?.success) return;
  const why = parsed === null ? `no contract has the subject ${subject}` : z.prettifyError(parsed.error);
  throw new HindcastError(
    'contract-violation',
    `letter ${id} would be buried again (--force replays it all the same): ${why}`,
  );
}
