import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';
import type { Ending } from './core/open-turn';
import type { SkipReason } from './core/session-fields';

/** What the gateway counts. `turns_ended_total` of main answers = stored + uncaptured. */
@Injectable()
export class GatewayMetrics {
  private readonly requests;
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
  }

  request(status: number): void {
    this.requests.inc({ status: String(status) });
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
  uncaptured(reason: string): void {
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
