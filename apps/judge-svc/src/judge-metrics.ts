import { Metrics } from '@hindcast/platform';
import { Injectable } from '@nestjs/common';
import { UNITS, type Spending } from './core/budget';
import type { VoteKind } from './core/vote';

const KINDS = ['eval', 'hint'] as const satisfies readonly VoteKind[];
/** Known beforehand, so that the first of a kind already is an increase. */
const OUTCOMES = ['ok', 'unreadable', 'timeout', 'error', 'breaker-open'] as const;
const SCORES = { eval: [-1, 0, 1], hint: [-1, 1] } as const;
const BREAKER_STATES = ['closed', 'half-open', 'open'] as const;
/** Seconds. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120];

interface CountedVote {
  readonly score: number | null;
  readonly abstained: string | null;
  readonly latencyMs: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cost: number | null;
}

interface CountedTurn {
  readonly evalScore: number;
  readonly hint: string | null;
}

/** What Prometheus sees of the votes; never a text. */
@Injectable()
export class JudgeMetrics {
  private readonly votes;
  private readonly scores;
  private readonly turns;
  private readonly latency;
  private readonly failures;
  private readonly tokens;
  private readonly cost;
  private readonly breaker;
  /** The series of most votes: a series is looked up by its labels only once. */
  private readonly often;

  constructor(private readonly metrics: Metrics) {
    this.votes = metrics.counter(
      'judge_votes_total',
      'Judge votes by outcome: ok (readable), unreadable, timeout, error, breaker-open',
      ['kind', 'outcome'],
    );
    this.scores = metrics.counter('judge_scores_total', 'Readable votes by what they say', ['kind', 'score']);
    this.turns = metrics.counter('judge_turns_total', 'Judged turns by eval score and whether a hint was accepted', [
      'score',
      'hinted',
    ]);
    this.latency = metrics.histogram(
      'judge_vote_seconds',
      'Time of a vote from its worker slot on, retries included',
      ['kind'],
      LATENCY_BUCKETS,
    );
    this.failures = metrics.counter('judge_failed_calls_total', 'Requests that brought no completion, by reason', [
      'reason',
    ]);
    this.tokens = metrics.counter('judge_tokens_total', 'Tokens that the judge counted', ['type']);
    this.cost = metrics.counter('judge_cost_total', 'Cost of the votes by the configured prices');
    this.breaker = metrics.gauge('judge_breaker', '1 for the state that the circuit breaker is in', ['state']);
    this.breakerIs('closed');
    for (const kind of KINDS) {
      for (const outcome of OUTCOMES) this.votes.inc({ kind, outcome }, 0);
      for (const score of SCORES[kind]) this.scores.inc({ kind, score: String(score) }, 0);
    }
    for (const score of SCORES.eval)
      for (const hinted of ['true', 'false']) this.turns.inc({ score: String(score), hinted }, 0);
    const seriesOf = (kind: VoteKind) => ({
      ok: this.votes.labels({ kind, outcome: 'ok' }),
      latency: this.latency.labels({ kind }),
      promptTokens: this.tokens.labels({ type: 'prompt' }),
      completionTokens: this.tokens.labels({ type: 'completion' }),
    });
    this.often = { eval: seriesOf('eval'), hint: seriesOf('hint') };
  }

  voted(kind: VoteKind, vote: CountedVote): void {
    const { ok, latency, promptTokens, completionTokens } = this.often[kind];
    if (vote.abstained === null) ok.inc();
    else this.votes.inc({ kind, outcome: vote.abstained });
    if (vote.score !== null) this.scores.inc({ kind, score: String(vote.score) });
    latency.observe(vote.latencyMs / 1000);
    if (vote.promptTokens !== null) promptTokens.inc(vote.promptTokens);
    if (vote.completionTokens !== null) completionTokens.inc(vote.completionTokens);
    if (vote.cost !== null) this.cost.inc(vote.cost);
  }

  judged({ evalScore, hint }: CountedTurn): void {
    this.turns.inc({ score: String(evalScore), hinted: String(hint !== null) });
  }

  failed(reason: string): void {
    this.failures.inc({ reason });
  }

  breakerIs(current: (typeof BREAKER_STATES)[number]): void {
    for (const state of BREAKER_STATES) this.breaker.set({ state }, state === current ? 1 : 0);
  }

  /** @param left what is left of each limited unit, asked at each scrape; `null` while it is not known */
  watchBudget(left: () => Partial<Spending> | null): void {
    this.metrics.gauge(
      'judge_budget_left',
      'What is left of the hour’s budget, all judge services together',
      ['unit'],
      (gauge) => {
        // Unknown is no number.
        gauge.reset();
        const known = left() ?? {};
        for (const unit of UNITS) if (known[unit] !== undefined) gauge.set({ unit }, known[unit]);
      },
    );
  }
}
