import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';
import type { OutcomeOrder } from './sessions';

/** Counts what the ledger was told, and what it had been told before. */
@Injectable()
export class Tally {
  constructor(private readonly metrics: Metrics) {}

  received(subject: string, isNews: boolean): void {
    this.metrics
      .counter('ledger_messages_total', 'Messages by whether they told the ledger anything new', ['subject', 'news'])
      .inc({ subject, news: String(isNews) });
  }

  outcome(order: OutcomeOrder): void {
    this.metrics
      .counter(
        'session_outcomes_total',
        'Outcomes of sessions: first, earlier than the one before, the same again, or too late',
        ['order'],
      )
      .inc({ order });
  }

  decided(gateCase: string): void {
    this.metrics.counter('decisions_total', 'Decided turns by row of the gate', ['case']).inc({ case: gateCase });
  }
}
