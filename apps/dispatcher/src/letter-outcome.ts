import { Database, type Statement } from './database';

const SETTLE: Statement = {
  name: 'settle-dead-letter',
  text: 'UPDATE dead_letters SET outcome = $3 WHERE "streamSequence" = $1 AND at = $2 AND outcome IS NULL',
};

/** A letter in the ledger: its number in the stream, and when it was sent, milliseconds since the epoch. */
export interface RecordedLetter {
  readonly sequence: number;
  readonly at: number;
}

/** The letter leaves the list of those that wait for a person; `gone`: the stream holds it no more. */
export async function settleLetter(
  database: Database,
  { sequence, at }: RecordedLetter,
  outcome: 'replayed' | 'discarded' | 'gone',
): Promise<void> {
  await database.sql(SETTLE, [sequence, at, outcome]);
}
