import { DependencyUnavailable } from '@hindcast/contracts';
import { Buckets, CONFIG, Log } from '@hindcast/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { KV } from '@nats-io/kv';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JudgeConfig } from './config';
import {
  charge,
  estimate,
  left,
  took,
  waitFor,
  type Account,
  type Budget,
  type Spending,
  type VoteBill,
} from './core/budget';
import { JudgeMetrics } from './judge-metrics';

/** What was set aside for one turn. */
export interface Admission {
  readonly at: number;
  readonly reserved: Spending;
}

const KEY = 'account';
/** Writes that lost against another service before the turn is told to come again. */
const TRIES = 20;
/** A waiting turn looks again at least this often: room may come early, when another turn took less than was set aside. */
const LONGEST_WAIT_MS = 5_000;

/** A change of the account that waits for the next write. `null`: it changes nothing. */
type Change = (account: Account, now: number) => Account | null;
interface Pending {
  readonly change: Change;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * The hour's budget, one account for all judge services together: a value in KV that is changed by compare-and-set. A turn is admitted
 * with all its votes or not at all. Without a limit nothing is read or written.
 */
@Injectable()
export class JudgeBudget implements OnModuleDestroy {
  private readonly budget: Budget;
  private readonly limited: boolean;
  private pending: Pending[] = [];
  private writing: Promise<void> | null = null;
  private bucket: KV | null = null;
  private known: Account | null = null;
  private exhausted = false;

  constructor(
    @Inject(CONFIG) config: JudgeConfig,
    private readonly buckets: Buckets,
    private readonly log: Log,
    metrics: JudgeMetrics,
  ) {
    this.budget = {
      calls: config.JUDGE_BUDGET_CALLS ?? null,
      tokens: config.JUDGE_BUDGET_TOKENS ?? null,
      cost: config.JUDGE_BUDGET_COST ?? null,
    };
    this.limited = Object.values(this.budget).some((limit) => limit !== null);
    if (this.limited) metrics.watchBudget(() => this.known && left(this.known, this.budget, Date.now()));
  }

  /**
   * Sets aside what votes will probably take; `null` where nothing has to be.
   *
   * @param guess what they take if no vote of the last hour tells better
   * @throws DependencyUnavailable when there is no room, or the account cannot be kept
   */
  async admit(guess: Spending): Promise<Admission | null> {
    if (!this.limited || guess.calls === 0) return null;
    const outcome: { waitMs: number; admission: Admission | null } = { waitMs: 0, admission: null };
    await this.change((account, now) => {
      const reserved = estimate(account, guess, now);
      outcome.waitMs = waitFor(account, this.budget, reserved, now);
      outcome.admission = outcome.waitMs === 0 ? { at: now, reserved } : null;
      return outcome.admission && charge(account, reserved, now, now);
    });
    this.report(outcome.admission === null);
    if (outcome.admission) return outcome.admission;
    const seconds = Math.ceil(outcome.waitMs / 1000);
    throw new DependencyUnavailable(
      'judge budget',
      `spent; there is room in ${seconds} s at the latest`,
      Math.min(outcome.waitMs, LONGEST_WAIT_MS),
    );
  }

  /** Puts what a turn really took in the place of what was set aside. Not waited for: votes that came are not held up by it. */
  settle(admission: Admission | null, bills: readonly VoteBill[]): void {
    if (!admission) return;
    const { at, reserved } = admission;
    const real = took(bills, reserved);
    const difference = {
      calls: real.calls - reserved.calls,
      tokens: real.tokens - reserved.tokens,
      cost: real.cost - reserved.cost,
    };
    if (difference.calls === 0 && difference.tokens === 0 && difference.cost === 0) return;
    // What cannot be written stays as it was set aside.
    void this.change((account, now) => charge(account, difference, at, now)).catch((error: unknown) =>
      this.log.warn('judge.budget-not-settled', { error }),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.race([this.writing, sleep(1_000, undefined, { ref: false })]);
  }

  /** All changes that wait at the same time are one write, so that a service is at most one competitor of the others. */
  private change(change: Change): Promise<void> {
    return new Promise((done, failed) => {
      this.pending.push({ change, done, failed });
      this.writing ??= this.write().finally(() => (this.writing = null));
    });
  }

  private async write(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      try {
        await this.apply(batch.map(({ change }) => change));
        for (const { done } of batch) done();
      } catch (cause) {
        const error = new DependencyUnavailable('judge budget', 'the account cannot be kept', 1_000, { cause });
        for (const { failed } of batch) failed(error);
      }
    }
  }

  private async apply(changes: readonly Change[]): Promise<void> {
    this.bucket ??= await this.buckets.open('judgeBudget');
    for (let attempt = 1; ; attempt++) {
      const entry = await this.bucket.get(KEY);
      const before = entry?.operation === 'PUT' ? accountOf(entry.string()) : [];
      const now = Date.now();
      const after = changes.reduce((account, change) => change(account, now) ?? account, before);
      this.known = after;
      if (after === before) return;
      try {
        const value = JSON.stringify(after);
        if (entry) await this.bucket.update(KEY, value, entry.revision);
        else await this.bucket.create(KEY, value);
        return;
      } catch (error) {
        if (attempt === TRIES) throw error;
        await sleep(Math.random() * 10 * attempt);
      }
    }
  }

  private report(exhausted: boolean): void {
    if (exhausted !== this.exhausted) this.log.warn(exhausted ? 'judge.budget-spent' : 'judge.budget-has-room');
    this.exhausted = exhausted;
  }
}

/** A value that cannot be read is an account that begins anew; the next write mends it. */
function accountOf(text: string): Account {
  try {
    const value: unknown = JSON.parse(text);
    const isRow = (row: unknown): boolean => Array.isArray(row) && row.length === 4 && row.every(Number.isFinite);
    return Array.isArray(value) && value.every(isRow) ? (value as unknown as Account) : [];
  } catch {
    return [];
  }
}
