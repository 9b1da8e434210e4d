import { Injectable } from '@nestjs/common';
import type { StepRow, StepsPage, StepsQuery, VersionRow, VersionsPage, VersionsQuery } from '@hindcast/contracts';
import { Database, type Statement } from './database';

const STEPS: Statement = {
  name: 'steps-page',
  text: `SELECT s.version, s.parent, round(extract(epoch FROM s."createdAt") * 1000)::float8 AS at, v.state::text AS state, v.reason,
      cardinality(s."turnIds") AS turns, s.metrics
    FROM steps s LEFT JOIN policy_versions v USING (version)
    WHERE $1::int IS NULL OR s.version < $1 ORDER BY s.version DESC LIMIT $2`,
};

const SERVED = `SELECT COALESCE(sum(turns), 0)::float8 AS turns, COALESCE(sum(judged), 0)::float8 AS judged,
    sum(score)::float8 / NULLIF(sum(scored), 0)::float8 AS "meanEvalScore",
    sum(hints)::float8 / NULLIF(sum(judged), 0)::float8 AS "hintRate"
  FROM version_counts`;

const VERSIONS: Statement = {
  name: 'versions-page',
  text: `SELECT v.version, v.state::text AS state, v.reason, s.parent, v.adapter,
      round(extract(epoch FROM v."createdAt") * 1000)::float8 AS at, (s.metrics ->> 'drift_nats')::float8 AS "driftNats",
      cardinality(s."turnIds") AS "trainedTurns", to_json(served.*) AS served
    FROM policy_versions v JOIN steps s USING (version)
    CROSS JOIN LATERAL (${SERVED} WHERE version_counts.version = v.version) served
    WHERE $1::int IS NULL OR v.version < $1 ORDER BY v.version DESC LIMIT $2`,
};
const BASE: Statement = { name: 'base-version', text: `${SERVED} WHERE version = 0` };

/** How the turns of some versions were judged. */
export interface VersionVerdicts {
  readonly policyVersion: number;
  readonly turns: number;
  /** In [−1, 1]; `null` when no turn has a score. */
  readonly meanEvalScore: number | null;
  /** Share of the turns with an accepted hint. */
  readonly hintRate: number;
}

const VERDICTS: Statement = {
  name: 'newest-verdicts',
  text: `SELECT version AS "policyVersion", sum(judged)::float8 AS turns,
      sum(score)::float8 / NULLIF(sum(scored), 0)::float8 AS "meanEvalScore", sum(hints)::float8 / sum(judged)::float8 AS "hintRate"
    FROM version_counts GROUP BY version HAVING sum(judged) > 0 ORDER BY version DESC LIMIT $1`,
};

/** Steps of the trainer and the versions that they made. */
@Injectable()
export class LedgerTraining {
  constructor(private readonly database: Database) {}

  async steps({ before, limit }: StepsQuery): Promise<StepsPage> {
    const rows = await this.database.sql<StepRow>(STEPS, [before, limit + 1]);
    const steps = rows.slice(0, limit);
    return { steps, next: rows.length > limit ? steps.at(-1)!.version : null };
  }

  /** The base model is the last one. */
  async versions({ before, limit }: VersionsQuery): Promise<VersionsPage> {
    const made = await this.database.sql<VersionRow>(VERSIONS, [before, limit + 1]);
    const rows = made.length <= limit && before !== 0 ? [...made, await this.base()] : made;
    const versions = rows.slice(0, limit);
    return { versions, next: rows.length > limit ? versions.at(-1)!.version : null };
  }

  /** How the answers of the newest versions were judged, newest first. */
  verdicts(versions: number): Promise<VersionVerdicts[]> {
    return this.database.sql<VersionVerdicts>(VERDICTS, [versions]);
  }

  private async base(): Promise<VersionRow> {
    const [served] = await this.database.sql<VersionRow['served']>(BASE, []);
    const facts = { reason: null, parent: null, adapter: null, at: null, driftNats: null, trainedTurns: 0 };
    return { version: 0, state: 'base', ...facts, served: served! };
  }
}
