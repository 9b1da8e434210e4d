import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Log } from '@hindcast/platform';
import { Database, type Statement } from './database';
import { Loop } from './loop';

const MELT_MS = 2_000;

/** Tables of counts: what a row counts by, and what it counts. */
const COUNTS = [
  { table: 'turn_counts', keys: ['tenant', 'state', 'ending', '"case"', 'reason'], sums: ['turns', 'changes'] },
  { table: 'sample_counts', keys: ['tenant', 'state'], sums: ['samples'] },
  { table: 'version_counts', keys: ['version'], sums: ['turns', 'judged', 'scored', 'score', 'hints'] },
  { table: 'judge_counts', keys: ['tenant', 'fact', 'day', 'name'], sums: ['count', 'total'] },
] as const;

/**
 * Only rows that were there when the statement began, and that nobody else took, are taken, and their sum is put back in the same
 * transaction: whoever adds at the same moment, or melts too, changes nothing of it.
 */
const MELT: readonly Statement[] = COUNTS.map(({ table, keys, sums }) => ({
  name: `melt-${table}`,
  text: `WITH touched AS (SELECT DISTINCT ${keys.join(', ')} FROM ${table} WHERE fresh),
    taken AS (DELETE FROM ${table} USING touched
      WHERE ${keys.map((key) => `${table}.${key} = touched.${key}`).join(' AND ')} RETURNING ${table}.*)
    INSERT INTO ${table} (${[...keys, ...sums].join(', ')}, fresh)
    SELECT ${keys.join(', ')}, ${sums.map((sum) => `sum(${sum})`).join(', ')}, false FROM taken GROUP BY ${keys.join(', ')}
    HAVING ${sums.map((sum) => `sum(${sum}) <> 0`).join(' OR ')}`,
}));

/**
 * Melts the rows that the ledger's triggers left of each count into one, so that a question adds up few of them. Several dispatchers may do
 * so at once; a count is the same before and after.
 */
@Injectable()
export class CountKeeper implements OnModuleDestroy {
  private readonly loop: Loop;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {
    this.loop = new Loop(MELT_MS, () => this.melt());
  }

  start(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  async melt(): Promise<void> {
    try {
      for (const statement of MELT) await this.database.sql(statement, []);
    } catch (error) {
      this.log.warn('counts.waiting', { error });
    }
  }
}
