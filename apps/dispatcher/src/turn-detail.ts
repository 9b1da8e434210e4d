import { Injectable } from '@nestjs/common';
import {
  encodeIds,
  encodeLogProbs,
  type Feedback,
  type LedgerDecision,
  type LedgerVote,
  type TurnDetail,
  type TurnRow,
  type TurnTokens,
} from '@hindcast/contracts';
import { capturedTokens, recordingOf, type RecordingTexts } from './core/recording';
import { shownTexts } from './core/turn-texts';
import { Database, type Statement } from './database';
import { storableText } from './ledger-commit';
import { TrainedTokens } from './trained-tokens';
import { ROW, ROW_TABLES, Values, tenantsSql } from './turn-list-sql';
import { TurnValues } from './turn-values';

const VOTES: Statement = {
  name: 'votes-of-turn',
  text: `SELECT kind::text AS kind, ordinal, score, abstained, hint, "latencyMs", "promptTokens", "completionTokens", cost,
      "promptVersion", raw
    FROM votes WHERE "turnId" = $1 ORDER BY kind, ordinal`,
};
const DECISION: Statement = {
  name: 'decision-of-turn',
  text: `SELECT "case"::text AS "case", reward, reason, method, "evalScore", hint, "rewardSource", "judgeModel", "promptVersion",
      "judgeLatencyMs", "teacherModel", COALESCE(verdicts, '[]') AS verdicts, COALESCE(guards, '[]') AS guards, "policyVersion",
      "currentVersion", round(extract(epoch FROM "decidedAt") * 1000)::float8 AS at
    FROM decisions WHERE "turnId" = $1`,
};
const RECORDING: Statement = {
  name: 'recording-of-turn',
  text: 'SELECT "turnId", judged, feedback, circumstances, capture FROM recordings WHERE "turnId" = $1',
};

interface FoundTurn {
  readonly row: TurnRow;
  readonly texts: string | null;
  readonly detail: string | null;
}

/** Everything that is known of one turn. */
@Injectable()
export class TurnDetails {
  constructor(
    private readonly database: Database,
    private readonly tokens: TrainedTokens,
    private readonly values: TurnValues,
  ) {}

  /** By the turn's id or its response's; `null` when there is none within the tenant (`null`: within all). */
  async detail(tenant: string | null, id: string): Promise<TurnDetail | null> {
    const name = storableText(id);
    const found = (await this.turn(tenant, 'id', name)) ?? (await this.turn(tenant, 'responseId', name));
    if (!found) return null;
    const { turnId } = found.row;
    const [votes, decisions, [recorded], trained, feedback] = await Promise.all([
      this.database.sql<LedgerVote>(VOTES, [turnId]),
      this.database.sql<LedgerDecision>(DECISION, [turnId]),
      this.database.sql<RecordingTexts>(RECORDING, [turnId]),
      this.tokens.read(turnId),
      this.values.newestFeedback(turnId),
    ]);
    const texts = found.texts === null ? null : shownTexts(found.texts);
    return {
      turn: found.row,
      conversation: texts?.conversation ?? null,
      answer: texts?.answer ?? null,
      nextState: texts?.nextState ?? null,
      votes,
      decision: decisions[0] ?? null,
      feedback: feedback ?? feedbackOf(recorded),
      tokens: recorded ? tokensOf(recorded) : null,
      trained,
      detail: found.detail,
    };
  }

  private async turn(tenant: string | null, column: 'id' | 'responseId', name: string): Promise<FoundTurn | undefined> {
    const values = new Values();
    const id = values.add(name, 'text');
    const text = `SELECT ${ROW}, x.texts, COALESCE(t."closedDetail", s."refusedDetail") AS detail
      FROM (${tenantsSql(tenant, values)}) place JOIN turns t ON t.tenant = place.tenant AND t."${column}" = ${id}
      ${ROW_TABLES} LEFT JOIN samples s ON s."turnId" = t.id
      ORDER BY t."createdAt" DESC LIMIT 1`;
    const [found] = await this.database.sql<TurnRow & Omit<FoundTurn, 'row'>>({ text }, values.list);
    if (!found) return undefined;
    const { texts, detail, ...row } = found;
    return { row, texts, detail };
  }
}

const feedbackOf = (recorded: RecordingTexts | undefined): Feedback | null =>
  recorded?.feedback == null ? null : (JSON.parse(recorded.feedback) as Feedback);

function tokensOf(recorded: RecordingTexts): TurnTokens | null {
  const recording = recordingOf(recorded);
  const captured = capturedTokens(recording);
  if (captured === null) return null;
  const { judged } = recording;
  const teacher = 'teacher' in judged && judged.teacher.ok ? judged.teacher.logProbs : null;
  const isWhole = teacher?.length === captured.responseIds.length;
  return {
    ids: encodeIds(captured.responseIds),
    rollout: encodeLogProbs(captured.rolloutLogProbs),
    teacher: isWhole ? teacher : null,
  };
}
