import { Injectable } from '@nestjs/common';
import type { JudgeQuery, JudgeStatistics } from '@hindcast/contracts';
import { daysUntil, judgeReport, type JudgeCount } from './core/judge-report';
import { Database, type Statement } from './database';

/** The tenant '' stands for all of them. */
const COUNTS: Statement = {
  name: 'judge-counts',
  text: `SELECT day::text AS day, fact, name, sum(count)::float8 AS count, sum(total)::float8 AS total FROM judge_counts
    WHERE tenant = $1 AND day >= $2::date GROUP BY 1, 2, 3`,
};

/** The judge's work by the day. */
@Injectable()
export class JudgeStatisticsReader {
  constructor(private readonly database: Database) {}

  async of({ tenant, days }: JudgeQuery): Promise<JudgeStatistics> {
    const shown = daysUntil(new Date(), days);
    return judgeReport(shown, await this.database.sql<JudgeCount>(COUNTS, [tenant ?? '', shown[0]]));
  }
}
