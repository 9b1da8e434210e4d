import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';

/** Counts what the ledger was told, and what it had been told before. */
@Injectable()
export class Tally {
  constructor(private readonly metrics: Metrics) {}

  received(subject: string, isNews: boolean): void {
    this.metrics
      .counter('ledger_messages_total', 'Messages by whether they told the ledger anything new', ['subject', 'news'])
      .inc({ subject, news: String(isNews) });
  }

  decided(gateCase: string): void {
    this.metrics.counter('decisions_total', 'Decided turns by row of the gate', ['case']).inc({ case: gateCase });
  }
}
