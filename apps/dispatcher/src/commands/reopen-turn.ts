import { DependencyUnavailable } from '@hindcast/contracts';
import type { Consequence } from '../core/dead-letter';
import type { Database } from '../database';
import { reopenedTurn } from './core/reopened-turn';

/** Two writers of one turn are rare, and each round lets one of them through. */
const MAX_ROUNDS = 20;

/**
 * Takes back what a dead letter made of its turn, in one transaction, so that the books balance at every moment.
 *
 * @returns whether there was anything to take back
 * @throws DependencyUnavailable when the database is away
 */
export async function reopenTurn(database: Database, { turnId, kind }: Consequence, code: string): Promise<boolean> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = await database.run((prisma) => prisma.turn.findUnique({ where: { id: turnId } }));
    const after = before && reopenedTurn(before, kind, code);
    if (!before || !after) return false;
    const isStored = await database.run((prisma) =>
      prisma.$transaction(async (transaction) => {
        const { id, ...facts } = after;
        const { count } = await transaction.turn.updateMany({
          where: { id, revision: before.revision },
          data: { ...facts, updatedAt: new Date() },
        });
        if (count === 0) return false;
        const reason = before.decidedReason;
        if (kind === 'dropped') await transaction.decision.deleteMany({ where: { turnId, case: 'drop', reason } });
        if (kind === 'refused')
          await transaction.sample.updateMany({
            where: { turnId, state: 'refused', refusedReason: before.refused },
            data: { state: 'ready', refusedReason: null, refusedDetail: null, endedAt: null },
          });
        return true;
      }),
    );
    if (isStored) return true;
  }
  throw new DependencyUnavailable('database', `turn ${turnId} changes all the time`);
}
