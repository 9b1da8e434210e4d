import { DependencyUnavailable } from '@hindcast/contracts';
import { CONFIG, Health, Log, WorkerSlots } from '@hindcast/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
  type CircuitBreakerPolicy,
} from 'cockatiel';
import type { JudgeConfig } from './config';
import { cutOffAs, type FailedTries, type Loss } from './core/deadline';
import { retryDelayMs } from './core/retry';
import type { Reply, VoteForm } from './core/vote';
import { JudgeEndpoint, type Answer } from './judge-endpoint';
import { JudgeMetrics } from './judge-metrics';
import type { Question } from './questions';
import { StructuredOutput } from './structured-output';
import { VoteClock } from './vote-clock';

/** A judge that failed this often in a row is left alone for a while. */
const FAILURES_TO_OPEN = 20;
const OPEN_MS = 5_000;
/** So often in a row, and people are told. */
const FAILURES_TO_TELL = 3;
/** Tries of a vote that were answered with something that is no completion, and may have been paid for. */
const PAID_TRIES = 3;

type Try = Answer | 'breaker-open' | 'over';

/** Where a vote stands while its tries go on. */
interface Course {
  readonly question: Question;
  readonly clock: VoteClock;
  form: VoteForm;
  calls: number;
  paid: number;
  /** What its tries so far came to; `null` before the first came to anything. */
  failed: FailedTries | null;
  /** When the request that is under way was sent, by the clock, ms; `null` when there is none. */
  sentAtMs: number | null;
}

/**
 * Asks the judge for votes. One vote: one deadline, as many tries as fit. A try holds a worker slot only while its request is under
 * way; what waits for `Retry-After` or for the breaker leaves it to others.
 */
@Injectable()
export class JudgeClient implements OnModuleDestroy {
  private readonly slots: WorkerSlots;
  private readonly breaker: CircuitBreakerPolicy;
  private readonly asking = new Set<VoteClock>();
  private closed = false;
  /** Failures of the judge itself since it last answered. */
  private failures = 0;
  private lastFailure = '';

  constructor(
    @Inject(CONFIG) private readonly config: JudgeConfig,
    private readonly endpoint: JudgeEndpoint,
    private readonly structured: StructuredOutput,
    private readonly metrics: JudgeMetrics,
    log: Log,
    health: Health,
  ) {
    this.slots = new WorkerSlots(config.JUDGE_CONCURRENCY);
    this.breaker = circuitBreaker(
      handleWhenResult((answer) => !(answer as Answer).ok && (answer as { broken: boolean }).broken),
      { halfOpenAfter: OPEN_MS, breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN) },
    );
    this.breaker.onStateChange((state) => {
      const name = state === CircuitState.Closed ? 'closed' : state === CircuitState.Open ? 'open' : 'half-open';
      metrics.breakerIs(name);
      log.warn('judge.breaker', { state: name });
    });
    const { origin } = new URL(config.JUDGE_BASE_URL);
    health.addOptionalCheck('judge', () => {
      if (this.failures >= FAILURES_TO_TELL)
        throw new Error(`${this.lastFailure} from ${origin}, ${this.failures} times in a row`);
    });
  }

  /**
   * One vote. It abstains rather than fail: the turn is decided with the votes that came.
   *
   * @throws DependencyUnavailable when the service shuts down meanwhile
   */
  async ask(question: Question): Promise<Reply> {
    const clock = new VoteClock(this.config.VOTE_TIMEOUT_MS);
    const course: Course = { question, clock, form: 'boxed', calls: 0, paid: 0, failed: null, sentAtMs: null };
    this.asking.add(clock);
    try {
      const answer = await this.answer(course);
      if (this.closed) throw new DependencyUnavailable('judge', 'the service shuts down');
      const { calls, form, sentAtMs } = course;
      const counted = { latencyMs: clock.elapsedMs, calls, form, cutOff: sentAtMs !== null };
      if (typeof answer === 'object') return { ...counted, ...answer, failed: null };
      return { ...counted, text: '', cut: false, promptTokens: null, completionTokens: null, failed: answer };
    } finally {
      this.asking.delete(clock);
      clock.stop();
    }
  }

  onModuleDestroy(): void {
    this.closed = true;
    for (const clock of this.asking) clock.expire();
  }

  /** Tries until there is a completion, or says why there will be none. */
  private async answer(course: Course): Promise<(Answer & { ok: true })['completion'] | Loss> {
    const { clock } = course;
    for (let attempt = 1; ; attempt++) {
      const trying = this.slots.run(() => this.try(course));
      // The deadline cuts a request off and ends a pause, but for a slot a try would wait as long as others take.
      const tried = attempt === 1 ? await trying : await Promise.race([trying, clock.whenOver()]);
      if (tried === null || tried === 'over') return atDeadline(course);
      if (tried === 'breaker-open') {
        course.failed = 'breaker-open';
        await clock.sleep(retryDelayMs(attempt, null, Math.random()));
        continue;
      }
      if (tried.ok) return tried.completion;
      // At the deadline the request was cut off, which is no failure of its own.
      if (clock.isExpired) return atDeadline(course);
      course.failed = 'error';
      this.metrics.failed(tried.why);
      if (tried.paid) course.paid++;
      if (!tried.again || course.paid >= PAID_TRIES) return 'error';
      await clock.sleep(retryDelayMs(attempt, tried.retryAfterMs, Math.random()));
    }
  }

  /** One try, in its worker slot. */
  private async try(course: Course): Promise<Try> {
    const { clock } = course;
    clock.start();
    if (clock.isExpired) return 'over';
    // Who meets the one probe of a half-open breaker would otherwise wait for it, as long as it takes.
    if (this.breaker.state === CircuitState.HalfOpen) return 'breaker-open';
    try {
      return this.noted(await this.breaker.execute(() => this.send(course)));
    } catch (error) {
      if (error instanceof BrokenCircuitError) return 'breaker-open';
      throw error;
    }
  }

  private noted(answer: Answer): Answer {
    const isBroken = !answer.ok && answer.broken;
    this.failures = isBroken ? this.failures + 1 : 0;
    if (isBroken) this.lastFailure = answer.why;
    return answer;
  }

  private async send(course: Course): Promise<Answer> {
    course.form = this.structured.form;
    const answer = await this.request(course);
    if (answer.ok || course.form !== 'either' || !answer.refusesFormat) return answer;
    // What it refuses with the schema and takes without it was refused because of the schema. A prompt that is too long is refused twice.
    course.form = 'boxed';
    const plain = await this.request(course);
    if (plain.ok) this.structured.refused();
    return plain;
  }

  private async request(course: Course): Promise<Answer> {
    const { question, clock, form } = course;
    course.calls++;
    course.sentAtMs = clock.elapsedMs;
    const answer = await this.endpoint.send(question.body(form !== 'boxed'), clock);
    if (!clock.isExpired) course.sentAtMs = null;
    return answer;
  }
}

/** What a vote is lost by whose deadline has come. */
function atDeadline({ failed, sentAtMs, clock }: Course): Loss {
  if (sentAtMs === null) return failed ?? 'timeout';
  return cutOffAs(failed, clock.elapsedMs - sentAtMs, clock.elapsedMs);
}
