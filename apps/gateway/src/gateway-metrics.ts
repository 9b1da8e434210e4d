import { Injectable } from '@nestjs/common';
import { ClosedTurn } from '@hindcast/contracts';
import { Metrics } from '@hindcast/platform';
import type { Ending } from './core/open-turn';
import type { SkipReason } from './core/session-fields';

/** Seconds: from a cached word to a long answer of a busy engine. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
/** Known beforehand, so that the first of a kind already is an increase. */
const UNCAPTURED = ['not-stored', 'contract-violation', 'internal'] as const;

/** What the gateway counts. Of main answers, `answers_ended_total` = `turns_stored_total` + `uncaptured_total`. */
@Injectable()
export class GatewayMetrics {
  private readonly requests;
  private readonly duration;
  private readonly start;
  private readonly answers;
  private readonly flagged;
  private readonly stored;
  private readonly untrainableTurns;
  private readonly uncapturedTurns;
  private readonly skipped;
  private readonly pairedTurns;
  private readonly closedTurns;
  private readonly fallbacks;
  private readonly retries;

  constructor(metrics: Metrics) {
    this.requests = metrics.counter('chat_requests_total', 'Chat requests by HTTP status', ['status']);
    this.duration = metrics.histogram(
      'chat_request_duration_seconds',
      'From a valid chat request to the end of its answer, refusals and clients that left included',
      ['streamed'],
      SECONDS,
    );
    this.start = metrics.histogram(
      'chat_stream_start_seconds',
      'From a valid chat request to the first event of a streamed answer',
      [],
      SECONDS,
    );
    this.answers = metrics.counter('answers_ended_total', 'Main answers that ended, by outcome', ['outcome']);
    this.flagged = metrics.counter('answers_flagged_total', 'Main answers that contradict themselves', ['flag']);
    this.stored = metrics.counter('turns_stored_total', 'Main answers written down, by where', ['where']);
    this.untrainableTurns = metrics.counter('turns_untrainable_total', 'Answers served that cannot be trained on', [
      'reason',
    ]);
    this.uncapturedTurns = metrics.counter('uncaptured_total', 'Main answers released that could not be written down', [
      'reason',
    ]);
    this.skipped = metrics.counter('skipped_total', 'Answers that are not captured by intention', ['reason']);
    this.pairedTurns = metrics.counter('turns_paired_total', 'Turns paired with their next state');
    this.closedTurns = metrics.counter('turns_closed_total', 'Turns that ended unpaired', ['reason']);
    this.fallbacks = metrics.counter(
      'model_fallbacks_total',
      'Requests answered by another model because the engine lacked the adapter',
    );
    this.retries = metrics.counter('engine_retries_total', 'Requests sent to an engine again, by reason', ['reason']);
    for (const reason of UNCAPTURED) this.uncapturedTurns.inc({ reason }, 0);
    for (const reason of ClosedTurn.shape.reason.options) this.closedTurns.inc({ reason }, 0);
    for (const where of ['nats', 'spool']) this.stored.inc({ where }, 0);
    for (const outcome of ['complete', 'failed']) this.answers.inc({ outcome }, 0);
  }

  request(status: number): void {
    this.requests.inc({ status: String(status) });
  }
  /**
   * @param startedAt when the stream began, `null` for none; both in milliseconds of `performance.now()`
   */
  timed(askedAt: number, startedAt: number | null, isStreamed: boolean): void {
    this.duration.observe({ streamed: String(isStreamed) }, (performance.now() - askedAt) / 1000);
    if (startedAt !== null) this.start.observe((startedAt - askedAt) / 1000);
  }
  answerEnded(outcome: 'complete' | 'failed'): void {
    this.answers.inc({ outcome });
  }
  /** Stored as the engine said it, and worth a look at its tool parser. */
  unannouncedToolCall(): void {
    this.flagged.inc({ flag: 'tool-call-with-stop' });
  }
  written(where: 'nats' | 'spool'): void {
    this.stored.inc({ where });
  }
  untrainable(reason: string): void {
    this.untrainableTurns.inc({ reason });
  }
  uncaptured(reason: (typeof UNCAPTURED)[number]): void {
    this.uncapturedTurns.inc({ reason });
  }
  skip(reason: SkipReason): void {
    this.skipped.inc({ reason });
  }
  notChat(): void {
    this.skipped.inc({ reason: 'not-chat' });
  }
  ended(ending: Ending): void {
    if (ending.kind === 'paired') this.pairedTurns.inc();
    else this.closedTurns.inc({ reason: ending.body.reason });
  }
  modelFallback(): void {
    this.fallbacks.inc();
  }
  retried(reason: string): void {
    this.retries.inc({ reason });
  }
}
