import { HindcastError, type Method } from '@hindcast/contracts';
import type { Database } from '../database';
import { Prisma } from '../generated/client';
import { FORGOTTEN, forgottenTurn } from './core/forgotten-turn';
import type { ForgetTarget } from './forget-target';

/** Turns whose rows are changed in one transaction. */
const CHUNK = 200;
/** And that are counted at a time. */
const COUNTED = 5_000;

export interface LedgerCounts {
  turns: number;
  votes: number;
  decisions: number;
  recordings: number;
  texts: number;
  trainedTokens: number;
  heldTurns: number;
  samples: number;
  outbox: number;
  deadLetters: number;
  sessions: number;
  sessionOutcomes: number;
}

export interface ForgottenRows {
  readonly counts: LedgerCounts;
  /** Turns that had not ended: messages about them, or their samples, may still be in some service's hands. */
  readonly underWay: readonly string[];
}

type Transaction = Prisma.TransactionClient;

/** Adds the target's turns, and the sessions that have no other turns, to the target. */
export async function findTurns(database: Database, target: ForgetTarget): Promise<void> {
  const { selector, tenant } = target;
  const where: Prisma.TurnWhereInput = {
    ...(tenant === null ? {} : { tenant }),
    ...(selector === 'session' && { sessionId: { in: [...target.sessionIds] } }),
    ...(selector === 'user' && { userId: { in: [...target.userIds] } }),
    ...(selector === 'turn' && { id: { in: [...target.turnIds] } }),
  };
  const turns = await database.run((prisma) => prisma.turn.findMany({ where, select: { id: true, sessionId: true } }));
  // Whoever names a tenant is not to reach another one's turn by its id.
  if (selector === 'turn' && tenant !== null && turns.length === 0) await assertUnknown(database, target);
  for (const { id } of turns) target.turnIds.add(id);
  if (selector === 'tenant') return addSessionsOfTenant(database, target);
  if (selector === 'session') return;
  const sessionIds = [...new Set(turns.flatMap((turn) => turn.sessionId ?? []))];
  const ids = [...target.turnIds];
  const whole = await database.run(
    (prisma) => prisma.$queryRaw<{ id: string }[]>`
      SELECT s.id FROM unnest(${sessionIds}::text[]) s(id)
      WHERE NOT EXISTS (SELECT FROM turns t WHERE t."sessionId" = s.id AND t.id NOT IN (SELECT unnest(${ids}::text[])))`,
  );
  for (const { id } of whole) target.sessionIds.add(id);
}

async function addSessionsOfTenant(database: Database, { tenant, sessionIds }: ForgetTarget): Promise<void> {
  const sessions = await database.run(
    (prisma) =>
      prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM sessions WHERE tenant = ${tenant} UNION SELECT "sessionId" FROM session_outcomes WHERE tenant = ${tenant}`,
  );
  for (const { id } of sessions) sessionIds.add(id);
}

async function assertUnknown(database: Database, { turnIds, tenant }: ForgetTarget): Promise<void> {
  const other = await database.run((prisma) => prisma.turn.findFirst({ where: { id: { in: [...turnIds] } } }));
  if (other) throw new HindcastError('turn-not-found', `tenant ${tenant} has no such turn`);
}

/** How many rows there are, without a change. */
export async function countRows(database: Database, target: ForgetTarget): Promise<LedgerCounts> {
  const total: LedgerCounts = { ...NOTHING };
  const left = [...target.turnIds];
  while (left.length > 0) addTo(total, await database.run((prisma) => countChunk(prisma, left.splice(0, COUNTED))));
  const sessionIds = [...target.sessionIds];
  const [found] = await database.run(
    (prisma) =>
      prisma.$queryRaw<{ sessions: bigint; outcomes: bigint }[]>`
      SELECT (SELECT count(*) FROM sessions WHERE id = ANY (${sessionIds}::text[])) AS sessions,
        (SELECT count(*) FROM session_outcomes WHERE "sessionId" = ANY (${sessionIds}::text[])) AS outcomes`,
  );
  return { ...total, sessions: Number(found!.sessions), sessionOutcomes: Number(found!.outcomes) };
}

async function countChunk(prisma: Transaction, turnIds: string[]): Promise<LedgerCounts> {
  const where = { turnId: { in: turnIds } };
  const turns = await prisma.turn.findMany({ where: { id: { in: turnIds } } });
  return {
    ...NOTHING,
    turns: turns.filter((turn) => forgottenTurn(turn) !== null).length,
    votes: await prisma.vote.count({ where }),
    decisions: await prisma.decision.count({ where: { ...where, OR: TEXTS_OF_DECISION } }),
    recordings: await prisma.recording.count({ where }),
    texts: await prisma.turnText.count({ where }),
    trainedTokens: await prisma.trainedTokens.count({ where }),
    heldTurns: await prisma.heldTurn.count({ where }),
    samples: await prisma.sample.count({ where: { ...where, state: 'ready' } }),
    outbox: await prisma.outboxEntry.count({ where }),
    deadLetters: await prisma.deadLetter.count({ where }),
  };
}

function addTo(total: LedgerCounts, counts: LedgerCounts): void {
  for (const name of Object.keys(total) as (keyof LedgerCounts)[]) total[name] += counts[name];
}

const TEXTS_OF_DECISION: Prisma.DecisionWhereInput[] = [
  { hint: { not: null } },
  { verdicts: { not: Prisma.AnyNull } },
  { person: { not: null } },
];

/** Deletes what the rows say; what the books and the lineage need stays. Done twice, it finds nothing the second time. */
export async function forgetRows(
  database: Database,
  target: ForgetTarget,
  method: Method,
  onDone: (turns: number) => void,
): Promise<ForgottenRows> {
  const total: LedgerCounts = { ...NOTHING };
  const underWay: string[] = [];
  // In one order everywhere, so that two writers do not wait for each other in a circle.
  const left = [...target.turnIds].sort();
  while (left.length > 0) {
    const ids = left.splice(0, CHUNK);
    const { counts, moved, ended } = await database.run((prisma) =>
      prisma.$transaction((transaction) => forgetChunk(transaction, ids, method), { timeout: 30_000 }),
    );
    addTo(total, counts);
    underWay.push(...ended);
    onDone(ids.length - moved.length);
    // Somebody else has written them since they were read.
    left.unshift(...moved);
  }
  const sessionIds = [...target.sessionIds];
  await database.run(async (prisma) => {
    total.sessions += await prisma.$executeRaw`
      DELETE FROM sessions s WHERE s.id = ANY (${sessionIds}::text[])
        AND NOT EXISTS (SELECT FROM turns t WHERE t."sessionId" = s.id)`;
    total.sessionOutcomes += await prisma.$executeRaw`
      DELETE FROM session_outcomes o WHERE o."sessionId" = ANY (${sessionIds}::text[])
        AND NOT EXISTS (SELECT FROM turns t WHERE t."sessionId" = o."sessionId")`;
  });
  return { counts: total, underWay };
}

export const NOTHING: Readonly<LedgerCounts> = {
  turns: 0,
  votes: 0,
  decisions: 0,
  recordings: 0,
  texts: 0,
  trainedTokens: 0,
  heldTurns: 0,
  samples: 0,
  outbox: 0,
  deadLetters: 0,
  sessions: 0,
  sessionOutcomes: 0,
};

async function forgetChunk(
  transaction: Transaction,
  ids: readonly string[],
  method: Method,
): Promise<{ counts: LedgerCounts; moved: string[]; ended: string[] }> {
  const before = await transaction.turn.findMany({ where: { id: { in: [...ids] } } });
  const changed = before.map(forgottenTurn).filter((turn) => turn !== null);
  const json = JSON.stringify(changed);
  const stored = await transaction.$queryRaw<{ id: string }[]>`
    UPDATE turns SET "responseId" = NULL, "sessionId" = NULL, "userId" = NULL, "closedDetail" = NULL, closed = new.closed,
      decided = new.decided, "decidedReason" = new."decidedReason", refused = new.refused, ending = new.ending,
      "case" = new."case", reason = new.reason, revision = new.revision, "updatedAt" = now()
    FROM jsonb_populate_recordset(NULL::turns, ${json}::jsonb) new
    WHERE turns.id = new.id AND turns.revision = new.revision - 1
    RETURNING turns.id`;
  const isStored = new Set(stored.map(({ id }) => id));
  const moved = changed.filter(({ id }) => !isStored.has(id)).map(({ id }) => id);
  const turnIds = ids.filter((id) => !moved.includes(id));
  const where = { turnId: { in: turnIds } };
  const decided = changed.filter((turn) => isStored.has(turn.id) && turn.decidedReason === FORGOTTEN);
  await transaction.decision.createMany({
    data: decided.map(({ id }) => ({ turnId: id, case: 'drop' as const, reason: FORGOTTEN, method })),
    skipDuplicates: true,
  });
  await transaction.sample.updateMany({ where, data: { refusedDetail: null } });
  const known = new Map(before.map((turn) => [turn.id, turn]));
  const ended = changed.filter(
    ({ id, reason }) => isStored.has(id) && reason === FORGOTTEN && known.get(id)!.reason !== FORGOTTEN,
  );
  // The ledger has not heard of them yet, and still may.
  const unknown = ids.filter((id) => !known.has(id));
  return {
    moved,
    ended: [...ended.map(({ id }) => id), ...unknown],
    counts: {
      ...NOTHING,
      turns: stored.length,
      votes: (await transaction.vote.deleteMany({ where })).count,
      decisions: (
        await transaction.decision.updateMany({
          where: { ...where, OR: TEXTS_OF_DECISION },
          data: { hint: null, verdicts: Prisma.DbNull, person: null },
        })
      ).count,
      recordings: (await transaction.recording.deleteMany({ where })).count,
      texts: (await transaction.turnText.deleteMany({ where })).count,
      trainedTokens: (await transaction.trainedTokens.deleteMany({ where })).count,
      heldTurns: (await transaction.heldTurn.deleteMany({ where })).count,
      samples: (
        await transaction.sample.updateMany({
          where: { ...where, state: 'ready' },
          data: { state: 'refused', refusedReason: FORGOTTEN, endedAt: new Date() },
        })
      ).count,
      outbox: (await transaction.outboxEntry.deleteMany({ where })).count,
      deadLetters: (await transaction.deadLetter.deleteMany({ where })).count,
    },
  };
}
