import { Injectable } from '@nestjs/common';
import type { LedgerOverview, LedgerStatus } from '@hindcast/contracts';
import { BusLag } from './bus-lag';
import { booksOf, type TurnGroup } from './core/books';
import { Database, type Statement } from './database';

interface Counts {
  readonly groups: readonly TurnGroup[];
  /** By state. */
  readonly samples: Readonly<Record<string, number>>;
  /** Judged turns: `hinted` when a teacher was asked. */
  readonly judged: Readonly<Record<string, number>>;
  readonly changes: string;
  readonly steps: number;
  readonly serving: number;
  /** Versions that serve or served. */
  readonly published: number;
  readonly newest: { readonly version: number; readonly at: number } | null;
  readonly deadLetters: number;
}

/** One statement, one snapshot. Steps and versions are everybody's. */
const COUNTS: Statement = {
  name: 'overview',
  text: `SELECT
    (SELECT COALESCE(json_agg(g), '[]') FROM (
      SELECT ending, NULLIF("case", '') AS "case", NULLIF(reason, '') AS reason, sum(turns)::float8 AS count FROM turn_counts
      WHERE $1::text IS NULL OR tenant = $1 GROUP BY 1, 2, 3 HAVING sum(turns) <> 0) g) AS groups,
    (SELECT COALESCE(json_object_agg(state, samples), '{}') FROM (
      SELECT state, sum(samples)::float8 AS samples FROM sample_counts WHERE $1::text IS NULL OR tenant = $1 GROUP BY 1) s
    ) AS samples,
    (SELECT COALESCE(json_object_agg(name, turns), '{}') FROM (
      SELECT name, sum(count)::float8 AS turns FROM judge_counts WHERE tenant = COALESCE($1, '') AND fact = 'judged' GROUP BY 1) j
    ) AS judged,
    (SELECT COALESCE(sum(changes), 0)::text FROM turn_counts WHERE $1::text IS NULL OR tenant = $1) AS changes,
    (SELECT count(*)::int FROM steps) AS steps,
    (SELECT count(*)::int FROM policy_versions WHERE state = 'published') AS serving,
    (SELECT count(*)::int FROM policy_versions WHERE state <> 'refused') AS published,
    (SELECT json_build_object('version', version, 'at', round(extract(epoch FROM "createdAt") * 1000)::float8)
      FROM policy_versions WHERE state = 'published' ORDER BY version DESC LIMIT 1) AS newest,
    (SELECT count(*)::int FROM dead_letters WHERE outcome IS NULL AND ($1::text IS NULL OR tenant = $1)) AS "deadLetters"`,
};

/** The books, and what passes through the loop. */
@Injectable()
export class LedgerOverviewReader {
  constructor(
    private readonly database: Database,
    private readonly lag: BusLag,
  ) {}

  /** The books, of one tenant or of all. */
  async status(tenant: string | null): Promise<LedgerStatus> {
    return statusOf(await this.counts(tenant));
  }

  async overview(tenant: string | null): Promise<LedgerOverview> {
    const [counts, consumers] = await Promise.all([this.counts(tenant), this.pending()]);
    const { samples, judged, published, newest, deadLetters, changes } = counts;
    const status = statusOf(counts);
    const { captured, paired } = status.turns;
    const { hinted = 0, unhinted = 0 } = judged;
    const { ready = 0, trained = 0, refused = 0 } = samples;
    return {
      status,
      // The ledger hears of a hinted turn when its teacher is done.
      flow: {
        captured,
        paired,
        hinted,
        unhinted,
        scored: hinted,
        ready: ready + trained + refused,
        trained,
        refused,
        published,
      },
      pending: consumers,
      deadLetters,
      policySince: newest?.at ?? null,
      turnsRevision: changes,
    };
  }

  private async counts(tenant: string | null): Promise<Counts> {
    const [counts] = await this.database.sql<Counts>(COUNTS, [tenant]);
    return counts!;
  }

  private async pending(): Promise<Record<string, number>> {
    const consumers = await this.lag.consumers().catch(() => new Map<string, never>());
    return Object.fromEntries([...consumers].map(([name, info]) => [name, info.num_pending + info.num_ack_pending]));
  }
}

function statusOf({ groups, samples, steps, serving, newest }: Counts): LedgerStatus {
  return {
    ...booksOf(groups),
    waitingSamples: samples['ready'] ?? 0,
    samplesTrained: samples['trained'] ?? 0,
    steps,
    versionsPublished: serving,
    policyVersion: newest?.version ?? 0,
  };
}
