import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DependencyUnavailable, type TraceContext } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { stepScoreOf, type JudgedTurn } from './core/decide';
import { settlement, type PendingTurn } from './core/settlement';
import { Dispatch } from './dispatch';
import { LedgerWriter } from './ledger-writer';
import { Loop } from './loop';
import { Sessions, type HeldTurn, type Outcome, type OutcomeOrder } from './sessions';
import { readTrace, traceText } from './trace-text';

/** What a crash or another dispatcher left, and what waited for long enough, is found this often. */
const SWEEP_MS = 2_000;

interface Held {
  readonly judged: JudgedTurn;
  readonly score: number | null;
  readonly expiresAt: Date;
  readonly trace: TraceContext | null;
}

/**
 * Turns that wait for the outcome of their session. A judged turn is held in the ledger, an outcome is stored there, and only then is anything
 * decided, from what the ledger holds: whatever the order of the messages, and wherever a crash came between, the sweep finds the rest.
 */
@Injectable()
export class SessionOutcomes implements OnModuleDestroy {
  private readonly loop: Loop;
  /** Outcomes that are being written, by session. */
  private readonly writes = new Map<string, Promise<void>>();

  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly sessions: Sessions,
    private readonly writer: LedgerWriter,
    private readonly dispatch: Dispatch,
    private readonly log: Log,
  ) {
    this.loop = new Loop(SWEEP_MS, () => this.sweep());
  }

  start(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  /** @returns whether the judgement was news */
  async hold(turnId: string, tenant: string, judged: JudgedTurn & { sessionId: string }): Promise<boolean> {
    const { responseId, sessionId, policyVersion } = judged;
    const expiresAt = new Date(Date.now() + this.config.OUTCOME_TTL_SECONDS * 1_000);
    const stored = await this.writer.write({
      turnId,
      tenant,
      event: { kind: 'judged', identity: { responseId, sessionId, policyVersion } },
      rows: { held: [{ turnId, tenant, sessionId, judged: JSON.stringify(judged), expiresAt, trace: traceText() }] },
    });
    await this.settle(tenant, sessionId);
    return stored === 'stored';
  }

  /** The environment's word on a session. */
  async outcome(tenant: string, sessionId: string, outcome: Outcome): Promise<OutcomeOrder> {
    const order = await this.inOrder(tenant, sessionId, () => this.sessions.addOutcome(tenant, sessionId, outcome));
    await this.settle(tenant, sessionId);
    return order;
  }

  /**
   * Messages are handled at once, and each write takes its own time: nothing is to be decided by the second word on a session before the
   * first one is stored.
   */
  private async inOrder<T>(tenant: string, sessionId: string, write: () => Promise<T>): Promise<T> {
    const key = `${tenant}/${sessionId}`;
    const written = (this.writes.get(key) ?? Promise.resolve()).then(write);
    const done = written.then(noop, noop);
    this.writes.set(key, done);
    try {
      return await written;
    } finally {
      if (this.writes.get(key) === done) this.writes.delete(key);
    }
  }

  /** Decides what can be decided of a session. */
  async settle(tenant: string, sessionId: string): Promise<void> {
    const { outcome, turns, held } = await this.sessions.waiting(tenant, sessionId);
    if (held.length === 0) return;
    const now = new Date();
    const known = await this.read(held);
    const isOver = held.some((turn) => turn.expiresAt <= now);
    if (outcome === null) return isOver ? this.expire(tenant, known, now) : undefined;
    const found = settlement(withScores(turns, known), isOver);
    if (found === null || found.due.length === 0) return;
    const reward = await this.sessions.useOutcome(tenant, sessionId);
    if (reward === null) return;
    const { OUTCOME_MODE: mode, OUTCOME_STEP_COEFFICIENT: coefficient, OUTCOME_DISCOUNT: discount } = this.config;
    const rule = { mode, coefficient, discount, standardise: this.config.OUTCOME_STANDARDISE };
    const decisions = found.due.map(({ id, index }) => {
      const turn = known.get(id);
      // Held after the list was read: the one who holds it settles too.
      if (!turn) return null;
      const outcome = { reward, rule, steps: found.steps, index };
      return this.dispatch.decide(id, tenant, turn.judged, outcome, turn.trace);
    });
    await Promise.all(decisions);
  }

  private async expire(tenant: string, held: ReadonlyMap<string, Held>, now: Date): Promise<void> {
    const over = [...held].filter(([, turn]) => turn.expiresAt <= now);
    await Promise.all(
      over.map(([turnId, { judged, trace }]) => this.dispatch.decide(turnId, tenant, judged, 'expired', trace)),
    );
  }

  private async read(held: readonly HeldTurn[]): Promise<ReadonlyMap<string, Held>> {
    const { FEEDBACK_REWARD: feedbackReward, EVAL_QUORUM: evalQuorum } = this.config;
    const count = { feedbackReward, evalQuorum };
    const entries = held.map(async ({ turnId, judged: text, expiresAt, trace }) => {
      const judged = JSON.parse(text) as JudgedTurn;
      const score = stepScoreOf(judged, await this.dispatch.feedback(turnId), count);
      return [turnId, { judged, score, expiresAt, trace: readTrace(trace) }] as const;
    });
    return new Map(await Promise.all(entries));
  }

  private async sweep(): Promise<void> {
    try {
      for (const { tenant, sessionId } of await this.sessions.due(new Date())) await this.settleDue(tenant, sessionId);
    } catch (error) {
      this.log.warn('outcomes.waiting', { error });
    }
  }

  /** A session that cannot be settled is not to keep the ones behind it. @throws DependencyUnavailable as {@link Dispatch.decide} */
  private async settleDue(tenant: string, sessionId: string): Promise<void> {
    try {
      await this.settle(tenant, sessionId);
    } catch (error) {
      if (error instanceof DependencyUnavailable) throw error;
      this.log.error('outcomes.not-settled', { sessionId, error });
    }
  }
}

const noop = (): void => undefined;

const withScores = (turns: readonly PendingTurn[], held: ReadonlyMap<string, Held>): PendingTurn[] =>
  turns.map((turn) => ({ ...turn, score: turn.decided === null ? (held.get(turn.id)?.score ?? null) : turn.score }));
