import { contracts, messageSchema, type MessageOf, readNewer } from '@hindcast/contracts';
import { jetstreamManager, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { consequenceOf } from '../core/dead-letter';
import { eraseMessage } from './stored-messages';

const STREAM = 'RL_DEAD';

/** A letter in the stream RL_DEAD. */
export interface StoredLetter {
  /** Its number in the stream, by which commands name it. */
  readonly id: number;
  readonly storedAt: Date;
  /** `null`: a later or an earlier version wrote what this one cannot read. */
  readonly envelope: MessageOf<'dead'> | null;
}

export interface LetterFilter {
  readonly code?: string;
  /** Failed subject, or its end: `judged.hinted` is `rl.v1.turn.judged.hinted`. */
  readonly subject?: string;
  readonly turn?: string;
}

/** The messages that failed for good. */
export class DeadLetterBox {
  private constructor(private readonly manager: JetStreamManager) {}

  static async open(connection: NatsConnection): Promise<DeadLetterBox> {
    return new DeadLetterBox(await jetstreamManager(connection));
  }

  /** `null` when there is none of this id (any more). */
  async letter(id: number): Promise<StoredLetter | null> {
    const message = await this.manager.streams.getMessage(STREAM, { seq: id });
    return message && readLetter(message);
  }

  /** Letters that the filter lets through, one at a time: a letter may be as large as a message. */
  async *letters(filter: LetterFilter, order: 'newest first' | 'oldest first'): AsyncGenerator<StoredLetter> {
    for (const id of await this.ids(order)) {
      const letter = await this.letter(id);
      if (letter && matches(letter, filter)) yield letter;
    }
  }

  /** Takes a letter out of the stream for good. Somebody else may have at the same time. */
  async remove(id: number): Promise<void> {
    await eraseMessage(this.manager, STREAM, id);
  }

  /**
   * Whether the dispatcher has recorded a letter: `no` where it has not had it yet, `now` while it may be at it.
   */
  async recorded(id: number, consumer: string): Promise<'yes' | 'no' | 'now'> {
    const info = await this.manager.consumers.info(STREAM, consumer).catch(() => null);
    if (info === null || info.delivered.stream_seq < id) return 'no';
    return info.num_ack_pending === 0 || info.ack_floor.stream_seq >= id ? 'yes' : 'now';
  }

  /** Bytes of a message that was too large for its letter. */
  async kept(stream: string, sequence: number): Promise<Uint8Array | null> {
    return (await this.manager.streams.getMessage(stream, { seq: sequence }))?.data ?? null;
  }

  /** Which letters the stream holds, and since when there is this stream, milliseconds; `null` where it is not known. */
  async held(): Promise<{ holds(id: number): boolean; since: number } | null> {
    const info = await this.manager.streams.info(STREAM, { deleted_details: true }).catch(() => null);
    if (info === null) return null;
    const { first_seq: first, last_seq: last, deleted } = info.state;
    const gone = new Set(deleted);
    return { holds: (id) => id >= first && id <= last && !gone.has(id), since: Date.parse(info.created) };
  }

  private async ids(order: 'newest first' | 'oldest first'): Promise<number[]> {
    const { state } = await this.manager.streams.info(STREAM, { deleted_details: true }).catch(() => ({ state: null }));
    // No service has run on this broker yet.
    if (state === null || state.messages === 0) return [];
    const gone = new Set(state.deleted);
    const ids: number[] = [];
    for (let id = state.first_seq; id <= state.last_seq; id++) if (!gone.has(id)) ids.push(id);
    return order === 'oldest first' ? ids : ids.reverse();
  }
}

function readLetter(message: StoredMsg): StoredLetter {
  let value: unknown;
  try {
    value = message.json();
  } catch {
    value = undefined;
  }
  const parsed = readNewer(messageSchema('dead'), value);
  return { id: message.seq, storedAt: message.time, envelope: parsed.data ?? null };
}

/** Subject of the failed message, also of a letter that cannot be read otherwise. */
export const failedSubject = ({ envelope }: StoredLetter): string => envelope?.body.subject ?? '(unreadable)';

/** The turn that a letter is about; a message that breaks its contract may still say which. */
export const concernedTurn = ({ envelope }: StoredLetter): string | null =>
  envelope && (consequenceOf(envelope.body, envelope.turnId)?.turnId ?? envelope.turnId);

export function matches(letter: StoredLetter, { code, subject, turn }: LetterFilter): boolean {
  const body = letter.envelope?.body;
  if (code !== undefined && body?.code !== code) return false;
  if (subject !== undefined && body?.subject !== subject && !body?.subject.endsWith(`.${subject}`)) return false;
  return turn === undefined || concernedTurn(letter) === turn;
}

/** Every subject that can fail, for `--help`. */
export const failingSubjects = Object.values(contracts)
  .map(({ subject }) => subject as string)
  .filter((subject) => !subject.endsWith('>'));
