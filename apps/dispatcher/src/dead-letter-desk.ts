import { Injectable } from '@nestjs/common';
import {
  HindcastError,
  type DeadLetterAnswer,
  type DeadLetterOutcome,
  type DeadLetterRow,
  type DeadLettersPage,
  type DeadLettersQuery,
} from '@hindcast/contracts';
import { Log, Nats } from '@hindcast/platform';
import { cursorOf, placeOf } from './core/cursor';
import { decodedPayload } from './commands/core/payload-view';
import { DeadLetterBox, type StoredLetter } from './commands/dead-letter-box';
import { payloadOf, replayLetter } from './commands/replay-letter';
import { Database, type Statement } from './database';
import { storableText } from './ledger-commit';
import { settleLetter, type RecordedLetter } from './letter-outcome';

/** As it stands in a cursor. */
const SEQUENCE = /^\d{1,15}$/;
/** Characters of a message that a person is shown. */
const SHOWN_CHARACTERS = 100_000;

const ROW = `"streamSequence"::float8 AS sequence, at::float8 AS at, "turnId", tenant, subject, consumer, code, error, deliveries`;
/** A subject may be named by its end: `judged.hinted`. */
const LIST: Statement = {
  text: `SELECT ${ROW} FROM dead_letters
    WHERE outcome IS NULL AND ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR code = $2)
      AND ($3::text IS NULL OR subject = $3 OR right(subject, length($3) + 1) = '.' || $3)
      AND ($4::bigint IS NULL OR (at, "streamSequence") < ($4, $5::bigint))
    ORDER BY at DESC, "streamSequence" DESC LIMIT $6`,
};
const ONE: Statement = {
  name: 'dead-letter',
  text: `SELECT ${ROW} FROM dead_letters WHERE "streamSequence" = $1 AND at = $2 AND ($3::text IS NULL OR tenant = $3)
    AND outcome IS NULL`,
};
/** Which letter, and whose it may be (`null`: anybody's). */
export interface LetterName extends RecordedLetter {
  readonly tenant: string | null;
}

/**
 * The dead letters that wait for a person. The ledger has the list, as the stream cannot be asked for some of its letters; what is replayed or
 * discarded here, by a command or by age leaves both.
 */
@Injectable()
export class DeadLetterDesk {
  constructor(
    private readonly database: Database,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {}

  /** @throws HindcastError `invalid-request` when `before` is no cursor */
  async list({ tenant, code, subject, before, limit }: DeadLettersQuery): Promise<DeadLettersPage> {
    const place = before === null ? null : placeOf(before, SEQUENCE);
    const filter = [tenant, code, subject].map((text) => text && storableText(text));
    const values = [...filter, place?.at ?? null, place && Number(place.id), limit + 1];
    const rows = await this.database.sql<DeadLetterRow>(LIST, values);
    const letters = rows.slice(0, limit);
    const last = letters.at(-1);
    const next = rows.length > limit && last ? cursorOf({ at: last.at, id: String(last.sequence) }) : null;
    return { letters, next };
  }

  async letter(name: LetterName): Promise<DeadLetterAnswer> {
    const letter = await this.row(name);
    if (!letter) return { found: false };
    const box = await this.box();
    const stored = await this.stored(box, name);
    return { found: true, letter, message: stored && (await messageOf(stored, box)) };
  }

  /** Gives the message to its handlers again, as `npm run deadletters -- replay` does. */
  async replay(name: LetterName, force: boolean): Promise<DeadLetterOutcome> {
    if (!(await this.row(name))) return GONE;
    const box = await this.box();
    const stored = await this.stored(box, name);
    if (!stored)
      return { outcome: 'gone', message: 'The broker holds this message no more; the letter can be discarded.' };
    try {
      const means = { box, connection: this.nats.connection(), database: this.database, force };
      const { turnId, subject, reopened } = await replayLetter(stored, means);
      this.log.info('dead-letter.replayed', { ...name, turnId, subject, reopened });
      const next = reopened ? ' Its turn is open again and will be decided anew.' : '';
      return { outcome: 'replayed', message: `The message was given to its handlers again.${next}` };
    } catch (error) {
      if (!(error instanceof HindcastError) || error.code === 'internal') throw error;
      return { outcome: error.code === 'not-found' ? 'gone' : 'refused', message: error.message };
    }
  }

  /** Removes the letter for good; what the ledger decided because of it stays. */
  async discard(name: LetterName): Promise<DeadLetterOutcome> {
    if (!(await this.row(name))) return GONE;
    const box = await this.box();
    if (await this.stored(box, name)) await box.remove(name.sequence);
    await settleLetter(this.database, name, 'discarded');
    this.log.info('dead-letter.discarded', { ...name });
    return { outcome: 'discarded', message: 'The letter was removed; what the ledger decided because of it stays.' };
  }

  /** Takes out of the list what the stream holds no more: settled by a command, or too old. */
  async sweep(): Promise<void> {
    const waiting = await this.database.sql<RecordedLetter>(WAITING, []);
    if (waiting.length === 0) return;
    const held = await (await this.box()).held();
    if (held === null) return;
    const gone = waiting.filter(({ sequence, at }) => !held.holds(sequence) || at < held.since);
    for (const letter of gone) await settleLetter(this.database, letter, 'gone');
  }

  private async row({ sequence, at, tenant }: LetterName): Promise<DeadLetterRow | undefined> {
    return (await this.database.sql<DeadLetterRow>(ONE, [sequence, at, tenant]))[0];
  }

  private box(): Promise<DeadLetterBox> {
    return DeadLetterBox.open(this.nats.connection());
  }

  /** The same place of a newly created stream may hold another letter. */
  private async stored(box: DeadLetterBox, { sequence, at }: LetterName): Promise<StoredLetter | null> {
    const stored = await box.letter(sequence);
    return stored?.envelope?.at === at ? stored : null;
  }
}

const GONE: DeadLetterOutcome = { outcome: 'gone', message: 'There is no such letter any more.' };

/** Oldest first. Those that a dispatcher has just recorded are in the stream. */
const WAITING: Statement = {
  name: 'waiting-dead-letters',
  text: `SELECT "streamSequence"::float8 AS sequence, at::float8 AS at FROM dead_letters
    WHERE outcome IS NULL ORDER BY dead_letters.at LIMIT 10000`,
};

async function messageOf(stored: StoredLetter, box: DeadLetterBox): Promise<string | null> {
  const value = await payloadOf(stored, box).then(decodedPayload, () => null);
  if (value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.slice(0, SHOWN_CHARACTERS);
}
