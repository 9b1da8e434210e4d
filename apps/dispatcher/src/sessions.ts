import { Injectable } from '@nestjs/common';
import type { PendingTurn } from './core/settlement';
import { Database, type Statement } from './database';

/** A judged turn that waits for its session's outcome. */
export interface HeldTurn {
  readonly turnId: string;
  readonly judged: string;
  readonly expiresAt: Date;
}

/** What is known of a session whose turns wait. */
export interface WaitingSession {
  /** `null` while the environment said nothing. */
  readonly outcome: number | null;
  /** All turns that wait or waited, oldest first. The score of a held one is not in it. */
  readonly turns: readonly PendingTurn[];
  readonly held: readonly HeldTurn[];
}

const HAS_SAMPLE: Statement = {
  name: 'session-has-sample',
  text: `SELECT EXISTS (SELECT FROM turns WHERE "sessionId" = $1 AND decided IN ('opdRl', 'opd', 'rl')) AS found`,
};
const WAITING: Statement = {
  name: 'waiting-session',
  text: `SELECT
    (SELECT reward FROM session_outcomes WHERE tenant = $1 AND "sessionId" = $2) AS outcome,
    (SELECT COALESCE(json_agg(json_build_object('id', id, 'ending', ending, 'decided', decided, 'judged', judged,
        'score', CASE WHEN d."evalScore" = 0 AND NOT EXISTS (
          SELECT FROM votes WHERE votes."turnId" = id AND kind = 'eval' AND votes.score IS NOT NULL
        ) THEN NULL ELSE d."evalScore" END) ORDER BY "createdAt", id), '[]')
      FROM turns LEFT JOIN decisions d ON d."turnId" = id
      WHERE tenant = $1 AND "sessionId" = $2 AND "outcomePending") AS turns,
    (SELECT COALESCE(json_agg(json_build_object('turnId', "turnId", 'judged', judged, 'expiresAt', "expiresAt")), '[]')
      FROM held_turns WHERE tenant = $1 AND "sessionId" = $2) AS held`,
};
/** Sessions that may have something to decide: their outcome is there, or a turn of theirs waited for long enough. */
const DUE: Statement = {
  name: 'due-sessions',
  text: `SELECT tenant, "sessionId" FROM held_turns LEFT JOIN session_outcomes USING (tenant, "sessionId")
    WHERE "expiresAt" <= $1 OR reward IS NOT NULL GROUP BY 1, 2 ORDER BY min("expiresAt") LIMIT 500`,
};
const ADD_OUTCOME: Statement = {
  name: 'add-outcome',
  text: `INSERT INTO session_outcomes AS known (tenant, "sessionId", reward, comment, at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (tenant, "sessionId") DO UPDATE SET late = known.late +
      CASE WHEN known.at = EXCLUDED.at AND known.reward = EXCLUDED.reward THEN 0 ELSE 1 END
    RETURNING xmax = 0 AS "isFirst", at = $5 AND reward = $3 AS "isSame"`,
};

const HELD: Statement = { name: 'held-turns', text: 'SELECT count(*)::int AS count FROM held_turns' };

/** What the ledger knows of sessions. */
@Injectable()
export class Sessions {
  constructor(private readonly database: Database) {}

  /** Whether a turn of the session was kept by the gate. */
  async hasSample(sessionId: string): Promise<boolean> {
    const [row] = await this.database.sql<{ found: boolean }>(HAS_SAMPLE, [sessionId]);
    return row!.found;
  }

  async waiting(tenant: string, sessionId: string): Promise<WaitingSession> {
    const [row] = await this.database.sql<WaitingSession & { held: { expiresAt: string }[] }>(WAITING, [
      tenant,
      sessionId,
    ]);
    return { ...row!, held: row!.held.map((turn) => ({ ...turn, expiresAt: new Date(turn.expiresAt) })) };
  }

  /** How many judged turns wait for the outcome of their session. */
  async heldTurns(): Promise<number> {
    const [row] = await this.database.sql<{ count: number }>(HELD, []);
    return row!.count;
  }

  due(now: Date): Promise<{ tenant: string; sessionId: string }[]> {
    return this.database.sql(DUE, [now]);
  }

  /** The first word counts. A message that came again is no later one. */
  async addOutcome(
    tenant: string,
    sessionId: string,
    { reward, comment, at }: { reward: number; comment: string | null; at: Date },
  ): Promise<'first' | 'again' | 'late'> {
    const [row] = await this.database.sql<{ isFirst: boolean; isSame: boolean }>(ADD_OUTCOME, [
      tenant,
      sessionId,
      reward,
      comment,
      at,
    ]);
    return row!.isFirst ? 'first' : row!.isSame ? 'again' : 'late';
  }
}
