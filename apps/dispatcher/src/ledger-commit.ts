import { Prisma, type PrismaClient } from './generated/client';
import type { Turn } from './core/turn';

/** A sample that was trained or refused. */
export interface EndedSample {
  readonly turnId: string;
  readonly state: 'trained' | 'refused';
  readonly refusedReason?: string | null;
  readonly refusedDetail?: string | null;
  readonly trainedIn?: number | null;
}

/** Rows to store together. Decisions, votes, samples and outbox entries belong to turns of the same change. */
export interface Changes {
  /** Each one revision ahead of its row. */
  readonly turns: readonly Turn[];
  readonly decisions?: readonly Prisma.DecisionCreateManyInput[];
  readonly votes?: readonly Prisma.VoteCreateManyInput[];
  readonly samples?: readonly Prisma.SampleCreateManyInput[];
  /** Samples to be published. */
  readonly outbox?: readonly { readonly turnId: string; readonly tenant: string; readonly body: unknown }[];
  readonly ended?: readonly EndedSample[];
  readonly steps?: readonly Prisma.StepCreateManyInput[];
  readonly versions?: readonly Prisma.PolicyVersionCreateManyInput[];
  readonly deadLetters?: readonly Prisma.DeadLetterCreateManyInput[];
}

const turnColumns = Object.values(Prisma.TurnScalarFieldEnum).filter(
  (column) => column !== 'id' && column !== 'createdAt',
);
const columns = Prisma.raw(turnColumns.map((column) => `"${column}"`).join(', '));
const excluded = Prisma.raw(turnColumns.map((column) => `EXCLUDED."${column}"`).join(', '));

/**
 * Stores changes in one statement, which is one transaction: all of it or nothing, in one round trip and on one connection.
 *
 * A turn whose row moved on since it was read is left alone, and so is what belongs to it.
 *
 * @returns ids of the turns that were stored
 */
export async function commit(prisma: PrismaClient, changes: Changes, now: Date): Promise<ReadonlySet<string>> {
  const {
    turns,
    decisions = [],
    votes = [],
    samples = [],
    outbox = [],
    ended = [],
    steps = [],
    versions = [],
  } = changes;
  const { deadLetters = [] } = changes;
  const sessions = turns
    .filter((turn) => turn.sessionId !== null)
    .map((turn) => ({ id: turn.sessionId, tenant: turn.tenant }));
  const rows = {
    turns: turns.map((turn) => ({ ...turn, createdAt: now, updatedAt: now })),
    sessions: sessions.map((session) => ({ ...session, createdAt: now })),
    decisions: decisions.map((decision) => ({ ...decision, decidedAt: now })),
    votes,
    samples: samples.map((sample) => ({ ...sample, createdAt: now })),
    outbox,
    ended: ended.map((sample) => ({ ...sample, endedAt: now })),
    steps: steps.map((step) => ({ ...step, createdAt: now })),
    versions: versions.map((version) => ({ ...version, createdAt: now })),
    deadLetters,
  };
  const json = JSON.stringify(rows, (_, value: unknown) => storable(value));
  const stored = await prisma.$queryRaw<{ id: string }[]>`
    WITH change AS (SELECT ${json}::jsonb AS row),
    turn AS (
      INSERT INTO turns SELECT new.* FROM change, jsonb_populate_recordset(NULL::turns, row->'turns') new
      ON CONFLICT (id) DO UPDATE SET (${columns}) = ROW(${excluded}) WHERE turns.revision = EXCLUDED.revision - 1
      RETURNING id, "sessionId"
    ),
    session AS (
      INSERT INTO sessions SELECT new.* FROM change, jsonb_populate_recordset(NULL::sessions, row->'sessions') new
      WHERE new.id IN (SELECT "sessionId" FROM turn)
      ON CONFLICT DO NOTHING
    ),
    decision AS (
      INSERT INTO decisions SELECT new.* FROM change, jsonb_populate_recordset(NULL::decisions, row->'decisions') new
      WHERE new."turnId" IN (SELECT id FROM turn)
    ),
    vote AS (
      INSERT INTO votes SELECT new.* FROM change, jsonb_populate_recordset(NULL::votes, row->'votes') new
      WHERE new."turnId" IN (SELECT id FROM turn)
    ),
    sample AS (
      INSERT INTO samples SELECT new.* FROM change, jsonb_populate_recordset(NULL::samples, row->'samples') new
      WHERE new."turnId" IN (SELECT id FROM turn)
    ),
    entry AS (
      INSERT INTO outbox ("turnId", tenant, body)
      SELECT new->>'turnId', new->>'tenant', convert_to((new->'body')::text, 'UTF8')
      FROM change, jsonb_array_elements(row->'outbox') new WHERE new->>'turnId' IN (SELECT id FROM turn)
    ),
    ended AS (
      UPDATE samples SET state = new.state, "refusedReason" = new."refusedReason", "refusedDetail" = new."refusedDetail",
        "trainedIn" = new."trainedIn", "endedAt" = new."endedAt"
      FROM change, jsonb_populate_recordset(NULL::samples, row->'ended') new
      WHERE samples."turnId" = new."turnId"
        AND (samples.state = 'ready' OR (samples.state = 'refused' AND new.state = 'trained'))
      RETURNING samples."turnId"
    ),
    emptied AS (
      UPDATE outbox SET body = NULL, "sentAt" = COALESCE("sentAt", now()) FROM ended WHERE outbox."turnId" = ended."turnId"
    ),
    step AS (
      INSERT INTO steps SELECT new.* FROM change, jsonb_populate_recordset(NULL::steps, row->'steps') new
      ON CONFLICT DO NOTHING
    ),
    version AS (
      INSERT INTO policy_versions SELECT new.* FROM change, jsonb_populate_recordset(NULL::policy_versions, row->'versions') new
      ON CONFLICT DO NOTHING
    ),
    letter AS (
      INSERT INTO dead_letters SELECT new.* FROM change, jsonb_populate_recordset(NULL::dead_letters, row->'deadLetters') new
      ON CONFLICT DO NOTHING
    )
    SELECT id FROM turn`;
  return new Set(stored.map((row) => row.id));
}

function storable(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' ? storableText(value) : value;
}

/**
 * A text as PostgreSQL holds it: neither the NUL character nor half a surrogate pair can be stored or asked for, and a judge's reply,
 * an engine's response id or a path of a client may hold both.
 */
export const storableText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
