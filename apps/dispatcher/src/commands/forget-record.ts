import type { Database } from '../database';
import type { Prisma } from '../generated/client';
import { descendants } from './core/lineage';
import type { ForgetTarget } from './forget-target';

export interface Lineage {
  /** Versions that a step made of these turns, refused ones included. */
  readonly versions: readonly { readonly version: number; readonly state: string | null }[];
  /** Later versions whose weights come from them. */
  readonly inheritedBy: readonly number[];
  /** Samples that the trainer may hold: published, neither trained nor refused. */
  readonly atTrainer: number;
}

/** What was, and may still be, trained on the turns. */
export async function lineageOf(database: Database, turnIds: readonly string[]): Promise<Lineage> {
  const [direct, steps, atTrainer] = await database.run(async (prisma) => [
    await prisma.$queryRaw<{ version: number; state: string | null }[]>`
      SELECT s.version, v.state::text FROM steps s LEFT JOIN policy_versions v USING (version)
      WHERE s."turnIds" && ${turnIds}::text[] ORDER BY s.version`,
    await prisma.step.findMany({ select: { version: true, parent: true } }),
    await prisma.$queryRaw<{ count: bigint }[]>`
      SELECT count(*) FROM samples JOIN outbox USING ("turnId")
      WHERE samples."turnId" = ANY (${turnIds}::text[]) AND state = 'ready' AND "sentAt" IS NOT NULL`,
  ]);
  const versions = direct.map(({ version }) => version);
  return { versions: direct, inheritedBy: descendants(steps, versions), atTrainer: Number(atTrainer[0]!.count) };
}

/** Writes down that something was forgotten, and nothing of what it was. */
export async function storeTombstone(
  database: Database,
  { selector, hash, tenant }: ForgetTarget,
  deleted: object,
  versions: readonly number[],
): Promise<void> {
  await database.run((prisma) =>
    prisma.forgotten.create({
      data: {
        selector,
        selectorHash: hash,
        tenant: tenant ?? '',
        deleted: deleted as Prisma.InputJsonObject,
        versions: [...versions],
      },
    }),
  );
}

export interface Tombstone {
  readonly at: Date;
  /** Turns that had not ended then. What some service still had of them is deleted when the request comes again. */
  readonly underWay: readonly string[];
  readonly versions: readonly number[];
}

/** What was forgotten by the same request before. */
export async function tombstonesOf(database: Database, { selector, hash }: ForgetTarget): Promise<Tombstone[]> {
  const rows = await database.run((prisma) =>
    prisma.forgotten.findMany({
      where: { selector, selectorHash: hash },
      select: { at: true, versions: true, deleted: true },
      orderBy: { id: 'asc' },
    }),
  );
  return rows.map(({ at, versions, deleted }) => {
    const { underWay = [] } = deleted as { underWay?: string[] };
    return { at, versions, underWay };
  });
}
