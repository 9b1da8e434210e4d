import type { Database } from '../database';
import { recordingOf, type Recording } from '../core/recording';
import { Prisma } from '../generated/client';
import type { RowFilter } from './options';

/** A recording in its order, with whose it is. */
export interface StoredRecording {
  readonly seq: bigint;
  readonly tenant: string;
  readonly decidedAt: Date;
  readonly recording: Recording;
  /** Version that was trained on the turn; `null` while none was. */
  readonly trainedIn: number | null;
  /** The decision that the ledger holds. */
  readonly decided: { readonly case: string; readonly reward: number | null; readonly reason: string | null } | null;
}

interface Row {
  readonly seq: bigint;
  readonly turnId: string;
  readonly tenant: string;
  readonly judged: string;
  readonly capture: Uint8Array | null;
  readonly feedback: string | null;
  readonly circumstances: string;
  readonly decidedAt: Date;
  readonly decidedCase: string | null;
  readonly decidedReward: number | null;
  readonly decidedReason: string | null;
  readonly trainedIn: number | null;
}

/** Rows that are looked at, and bytes that are read, at a time: memory is bounded whatever the sizes are. */
const PAGE_ROWS = 256;
const PAGE_BYTES = 16 * 1024 * 1024;

/** Condition on a table with `tenant`, `sessionId` and a time. */
export function rowCondition(filter: RowFilter, time: string): Prisma.Sql {
  const column = Prisma.raw(`"${time}"`);
  const parts = [
    Prisma.sql`TRUE`,
    ...(filter.tenant === undefined ? [] : [Prisma.sql`tenant = ${filter.tenant}`]),
    ...(filter.session === undefined ? [] : [Prisma.sql`"sessionId" = ${filter.session}`]),
    ...(filter.since === undefined ? [] : [Prisma.sql`${column} >= ${filter.since}`]),
    ...(filter.until === undefined ? [] : [Prisma.sql`${column} < ${filter.until}`]),
  ];
  return Prisma.join(parts, ' AND ');
}

/** What is there now; what is recorded while a command runs is left to the next one. */
export interface RecordingRange {
  readonly count: number;
  readonly last: bigint;
}

export async function recordingRange(database: Database, filter: RowFilter): Promise<RecordingRange> {
  const [found] = await database.run(
    (prisma) =>
      prisma.$queryRaw<{ count: bigint; last: bigint | null }[]>`
      SELECT count(*) AS count, max(seq) AS last FROM recordings WHERE ${rowCondition(filter, 'decidedAt')}`,
  );
  const count = Math.min(Number(found!.count), filter.limit ?? Infinity);
  return { count, last: found!.last ?? 0n };
}

/** Recordings in the order of their decisions. */
export async function* recordings(
  database: Database,
  filter: RowFilter,
  { count, last }: RecordingRange,
): AsyncGenerator<StoredRecording> {
  let after = 0n;
  for (let left = count; left > 0;) {
    const rows = await page(database, rowCondition(filter, 'decidedAt'), after, last, Math.min(left, PAGE_ROWS));
    if (rows.length === 0) return;
    for (const row of rows) yield storedRecording(row);
    left -= rows.length;
    after = rows.at(-1)!.seq;
  }
}

function storedRecording({ decidedCase, decidedReward: reward, decidedReason: reason, ...row }: Row): StoredRecording {
  const { seq, tenant, decidedAt, trainedIn, ...texts } = row;
  const decided = decidedCase === null ? null : { case: decidedCase, reward, reason };
  return { seq, tenant, decidedAt, trainedIn, recording: recordingOf(texts), decided };
}

const page = (database: Database, condition: Prisma.Sql, after: bigint, last: bigint, limit: number): Promise<Row[]> =>
  database.run(
    (prisma) =>
      prisma.$queryRaw<Row[]>`
      WITH sized AS (
        SELECT seq, octet_length(judged) + coalesce(octet_length(capture), 0) AS bytes FROM recordings
        WHERE seq > ${after} AND seq <= ${last} AND ${condition} ORDER BY seq LIMIT ${limit}
      ), summed AS (
        SELECT seq, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM sized
      )
      SELECT r.seq, r."turnId", r.tenant, r.judged, r.capture, r.feedback, r.circumstances, r."decidedAt",
        d."case"::text AS "decidedCase", d.reward AS "decidedReward", d.reason AS "decidedReason", t."trainedIn"
      FROM recordings r LEFT JOIN decisions d USING ("turnId") LEFT JOIN turns t ON t.id = r."turnId"
      WHERE r.seq IN (SELECT seq FROM summed WHERE before < ${PAGE_BYTES}) ORDER BY r.seq`,
  );
