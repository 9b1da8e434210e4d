import { Injectable } from '@nestjs/common';
import type { PendingTurn } from './core/settlement';
import { Database, type Statement } from './database';

/** A judged turn that waits for its session's outcome. */
export interface HeldTurn {
  readonly turnId: string;
  readonly judged: string;
  readonly expiresAt: Date;
  readonly trace: string | null;
}

/** The environment's word on a session. */
export interface Outcome {
  /** In [−1, 1]. */
  readonly reward: number;
  readonly comment: string | null;
  /** When it was sent, and where in the stream it lies: of two that were sent in one millisecond the smaller one is the first. */
  readonly at: Date;
  readonly sequence: number;
}

/**
 * `first`: the session had none. `earlier`: it had one that was sent later, which no longer counts. `again`: it is the one that counts.
 * `late`: another one counts.
 */
export type OutcomeOrder = 'first' | 'earlier' | 'again' | 'late';

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
        'score', d."stepScore") ORDER BY "createdAt", id), '[]')
      FROM turns LEFT JOIN decisions d ON d."turnId" = id
      WHERE tenant = $1 AND "sessionId" = $2 AND "outcomePending") AS turns,
    (SELECT COALESCE(json_agg(json_build_object('turnId', "turnId", 'judged', judged, 'expiresAt', "expiresAt",
        'trace', trace)), '[]')
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
  text: `INSERT INTO session_outcomes AS known (tenant, "sessionId", reward, comment, at, sequence)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant, "sessionId") DO UPDATE SET late = known.late + 1, (reward, comment, at, sequence) = (
      SELECT reward, comment, at, sequence FROM (VALUES
        (known.used, known.at, known.sequence, known.reward, known.comment),
        (false, EXCLUDED.at, EXCLUDED.sequence, EXCLUDED.reward, EXCLUDED.comment)
      ) word (used, at, sequence, reward, comment) ORDER BY used DESC, at, sequence, reward LIMIT 1)
    WHERE known.at <> EXCLUDED.at OR known.reward <> EXCLUDED.reward
    RETURNING CASE WHEN xmax = 0 THEN 'first' WHEN at = $5 AND reward = $3 THEN 'earlier' ELSE 'late' END AS "order"`,
};
/** From now on no other outcome takes its place. The row's lock puts it before or after a change of the outcome. */
const USE_OUTCOME: Statement = {
  name: 'use-outcome',
  text: `UPDATE session_outcomes SET used = true WHERE tenant = $1 AND "sessionId" = $2 RETURNING reward`,
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

  /** The outcome that was sent first counts, whatever the order in which they come, until something is decided by one. */
  async addOutcome(
    tenant: string,
    sessionId: string,
    { reward, comment, at, sequence }: Outcome,
  ): Promise<OutcomeOrder> {
    const values = [tenant, sessionId, reward, comment, at, sequence];
    const [row] = await this.database.sql<{ order: OutcomeOrder }>(ADD_OUTCOME, values);
    return row?.order ?? 'again';
  }

  /** The reward to decide by, which is final from now on; `null` when the session's outcome is gone. */
  async useOutcome(tenant: string, sessionId: string): Promise<number | null> {
    const [row] = await this.database.sql<{ reward: number }>(USE_OUTCOME, [tenant, sessionId]);
    return row?.reward ?? null;
  }
}
