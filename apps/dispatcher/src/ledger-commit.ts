import { searchWords } from './core/search-words';
import type { Database, Statement } from './database';
import { Prisma } from './generated/client';
import type { Changes } from './ledger-rows';

const turnColumns = Object.values(Prisma.TurnScalarFieldEnum).filter(
  (column) => column !== 'id' && column !== 'createdAt',
);
const columns = turnColumns.map((column) => `"${column}"`).join(', ');
const excluded = turnColumns.map((column) => `EXCLUDED."${column}"`).join(', ');

/** Where a value lies in the bytes that are sent beside the rows; no length, no value. */
const slice = (name: string): string => `substring($13::bytea FROM "${name}From" FOR "${name}Length")`;
const NO_SAMPLE_YET = `
  AND NOT EXISTS (
    SELECT FROM json_to_recordset($14::json) AS first("turnId" text, "sessionId" text)
    JOIN turns kept ON kept."sessionId" = first."sessionId" AND kept.decided IN ('opdRl', 'opd', 'rl')
    WHERE first."turnId" = new.id
  )`;

/** One statement is one transaction: all of it or nothing, in one round trip and on one connection. */
const statementOf = (name: string, condition: string): Statement => ({
  name,
  text: `
  WITH turn AS (
    INSERT INTO turns SELECT new.* FROM json_populate_recordset(NULL::turns, $1::json) new
    WHERE (new.revision = 1 OR EXISTS (SELECT FROM turns old WHERE old.id = new.id AND old.revision = new.revision - 1))
    ${condition}
    ON CONFLICT (id) DO UPDATE
      SET (${columns}) = ROW(${excluded}), "createdAt" = LEAST(turns."createdAt", EXCLUDED."createdAt")
      WHERE turns.revision = EXCLUDED.revision - 1
    RETURNING id, "sessionId", judged, decided, 'forgotten' IN (closed, "decidedReason", refused) AS forgotten
  ),
  session AS (
    INSERT INTO sessions SELECT new.* FROM json_populate_recordset(NULL::sessions, $2::json) new
    WHERE new.id IN (SELECT "sessionId" FROM turn)
    ON CONFLICT DO NOTHING
  ),
  decision AS (
    INSERT INTO decisions SELECT new.* FROM json_populate_recordset(NULL::decisions, $3::json) new
    WHERE new."turnId" IN (SELECT id FROM turn)
  ),
  vote AS (
    INSERT INTO votes SELECT new.* FROM json_populate_recordset(NULL::votes, $4::json) new
    WHERE new."turnId" IN (SELECT id FROM turn)
  ),
  sample AS (
    INSERT INTO samples SELECT new.* FROM json_populate_recordset(NULL::samples, $5::json) new
    WHERE new."turnId" IN (SELECT id FROM turn)
  ),
  recording AS (
    INSERT INTO recordings ("turnId", tenant, "sessionId", judged, capture, feedback, circumstances, "decidedAt")
    SELECT "turnId", tenant, "sessionId", convert_from(${slice('judged')}, 'UTF8'), ${slice('capture')}, feedback,
      circumstances, "decidedAt"
    FROM json_to_recordset($6::json) AS new("turnId" text, tenant text, "sessionId" text, "judgedFrom" int,
      "judgedLength" int, "captureFrom" int, "captureLength" int, feedback text, circumstances text,
      "decidedAt" timestamptz, position int)
    WHERE "turnId" IN (SELECT id FROM turn)
    ORDER BY position
    ON CONFLICT ("turnId") DO UPDATE SET judged = EXCLUDED.judged, capture = EXCLUDED.capture, seq = EXCLUDED.seq,
      feedback = EXCLUDED.feedback, circumstances = EXCLUDED.circumstances, "decidedAt" = EXCLUDED."decidedAt"
  ),
  entry AS (
    INSERT INTO outbox ("turnId", tenant, body, trace) SELECT "turnId", tenant, ${slice('body')}, trace
    FROM json_to_recordset($7::json) AS new("turnId" text, tenant text, "bodyFrom" int, "bodyLength" int, trace text)
    WHERE "turnId" IN (SELECT id FROM turn)
  ),
  held AS (
    INSERT INTO held_turns ("turnId", tenant, "sessionId", judged, "expiresAt", trace)
    SELECT "turnId", tenant, "sessionId", convert_from(${slice('judged')}, 'UTF8'), "expiresAt", trace
    FROM json_to_recordset($8::json) AS new("turnId" text, tenant text, "sessionId" text, "judgedFrom" int,
      "judgedLength" int, "expiresAt" timestamptz, trace text)
    WHERE "turnId" IN (SELECT id FROM turn)
    ON CONFLICT DO NOTHING
  ),
  words AS (
    INSERT INTO turn_texts ("turnId", texts, request, answer, words, "storedAt")
    SELECT "turnId", convert_from(${slice('texts')}, 'UTF8'), request, answer,
      array_to_tsvector(string_to_array(words, ' ')) || strip(to_tsvector('simple', rest)), "storedAt"
    FROM json_to_recordset($16::json) AS new("turnId" text, request text, answer text, "textsFrom" int, "textsLength" int,
      words text, rest text, "storedAt" timestamptz)
    WHERE "turnId" IN (SELECT id FROM turn WHERE forgotten IS NOT TRUE)
    ON CONFLICT DO NOTHING
  ),
  released AS (
    DELETE FROM held_turns WHERE "turnId" IN (SELECT id FROM turn WHERE judged AND decided IS NOT NULL)
  ),
  ended AS (
    UPDATE samples SET state = new.state, "refusedReason" = new."refusedReason", "refusedDetail" = new."refusedDetail",
      "trainedIn" = new."trainedIn", "endedAt" = new."endedAt"
    FROM json_populate_recordset(NULL::samples, $9::json) new
    WHERE samples."turnId" = new."turnId"
      AND (samples.state = 'ready' OR (samples.state = 'refused' AND new.state = 'trained'))
    RETURNING samples."turnId"
  ),
  sent AS (
    UPDATE outbox SET "sentAt" = COALESCE("sentAt", now()), body = CASE WHEN ended."turnId" IS NULL THEN body END
    FROM (
      SELECT "turnId" FROM ended UNION SELECT json_array_elements_text($15::json)
    ) done LEFT JOIN ended USING ("turnId")
    WHERE outbox."turnId" = done."turnId"
  ),
  step AS (
    INSERT INTO steps SELECT new.* FROM json_populate_recordset(NULL::steps, $10::json) new
    ON CONFLICT DO NOTHING
  ),
  version AS (
    INSERT INTO policy_versions SELECT new.* FROM json_populate_recordset(NULL::policy_versions, $11::json) new
    -- Messages come in any order, and a version that was rolled back never serves again.
    ON CONFLICT (version) DO UPDATE SET state = excluded.state, reason = excluded.reason
    WHERE excluded.state = 'rolled-back'
  ),
  letter AS (
    INSERT INTO dead_letters SELECT new.* FROM json_populate_recordset(NULL::dead_letters, $12::json) new
    ON CONFLICT DO NOTHING
  )
  SELECT id FROM turn`,
});

const PLAIN = statementOf('commit', 'AND $14::json IS NOT NULL');
const WITH_FIRST_SAMPLES = statementOf('commit-first-samples', NO_SAMPLE_YET);
/** Two dispatchers that give a session its only sample at once take turns; the second sees the first one's. */
const SESSION_LOCKS: Statement = {
  name: 'lock-sessions',
  text: `SELECT pg_advisory_xact_lock(hashtextextended(id, 1)) FROM (SELECT unnest($1::text[]) AS id ORDER BY 1) session`,
};

/**
 * Stores changes, all or nothing. A turn whose row moved on since it was read is left alone, and so is what belongs to it.
 *
 * @returns ids of the turns that were stored
 * @throws DependencyUnavailable when the database is away
 */
export async function commit(database: Database, changes: Changes, now: Date): Promise<ReadonlySet<string>> {
  const values = valuesOf(changes, now);
  const sessions = [...new Set((changes.firstSamples ?? []).map((first) => first.sessionId))];
  const stored =
    sessions.length === 0
      ? await database.sql<{ id: string }>(PLAIN, values)
      : await database.transaction<{ id: string }>([
          [SESSION_LOCKS, [sessions]],
          [WITH_FIRST_SAMPLES, values],
        ]);
  return new Set(stored.map((row) => row.id));
}

function valuesOf(changes: Changes, now: Date): unknown[] {
  const { turns, decisions = [], votes = [], samples = [], recordings = [], outbox = [], held = [] } = changes;
  const { ended = [], steps = [], versions = [], deadLetters = [], firstSamples = [], sent = [], texts = [] } = changes;
  const bytes = new Bytes();
  const sessions = turns.flatMap(({ sessionId, tenant }) => (sessionId === null ? [] : [{ id: sessionId, tenant }]));
  const dated = (rows: readonly object[], column: string): object[] => rows.map((row) => ({ ...row, [column]: now }));
  const tables: readonly (readonly object[])[] = [
    turns.map((turn) => ({ ...turn, createdAt: turn.createdAt ?? now, updatedAt: now })),
    dated([...new Map(sessions.map((session) => [session.id, session])).values()], 'createdAt'),
    dated(decisions, 'decidedAt'),
    votes,
    dated(samples, 'createdAt'),
    recordings.map(({ judged, capture, ...row }, position) => ({
      ...row,
      ...bytes.add('judged', Buffer.from(judged)),
      ...bytes.add('capture', capture),
      decidedAt: now,
      position,
    })),
    outbox.map(({ body, ...row }) => ({ ...row, ...bytes.add('body', body) })),
    held.map(({ judged, ...row }) => ({ ...row, ...bytes.add('judged', Buffer.from(judged)) })),
    dated(ended, 'endedAt'),
    dated(steps, 'createdAt'),
    dated(versions, 'createdAt'),
    deadLetters,
  ];
  const textRows = texts.map(({ texts: json, searched, ...row }) => ({
    ...row,
    ...bytes.add('texts', Buffer.from(json)),
    ...searchWords(storableText(searched)),
    storedAt: now,
  }));
  const others = [firstSamples, sent, textRows].map(storableJson);
  return [...tables.map(storableJson), bytes.joined(), ...others];
}

/** Large values go beside the rows, as bytes: in JSON they would be escaped here and read again there. */
class Bytes {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  add(name: string, value: Uint8Array | null): object {
    if (value === null) return {};
    const from = this.length + 1; // SQL counts from 1
    this.parts.push(value);
    this.length += value.length;
    return { [`${name}From`]: from, [`${name}Length`]: value.length };
  }

  joined(): Buffer {
    return Buffer.concat(this.parts, this.length);
  }
}

/** What JSON makes of a character that {@link storableText} replaces; asking each text by itself takes far longer. */
const ESCAPED = /\\u(0000|d[89a-f])/;

function storableJson(rows: readonly unknown[]): string {
  const json = JSON.stringify(rows);
  if (!ESCAPED.test(json)) return json;
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storableText(value) : value));
}

const UNSTORABLE = /[\0\p{Surrogate}]/u;

/**
 * A text as PostgreSQL holds it: neither the NUL character nor half a surrogate pair can be stored or asked for, and a judge's reply,
 * an engine's response id or a path of a client may hold both.
 */
export const storableText = (text: string): string =>
  UNSTORABLE.test(text) ? text.replace(/[\0\p{Surrogate}]/gu, '\ufffd') : text;
