import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';
import type { OutcomeOrder } from './sessions';

/** Rows of the gate, known beforehand so that the first of each already is an increase. */
const CASES = ['opdRl', 'opd', 'rl', 'drop'] as const;

/** Counts what the ledger was told, and what it had been told before. */
@Injectable()
export class Tally {
  private readonly messages;
  private readonly outcomes;
  private readonly decisions;

  constructor(metrics: Metrics) {
    this.messages = metrics.counter('ledger_messages_total', 'Messages by whether they told the ledger anything new', [
      'subject',
      'news',
    ]);
    this.outcomes = metrics.counter(
      'session_outcomes_total',
      'Outcomes of sessions: first, earlier than the one before, the same again, or too late',
      ['order'],
    );
    this.decisions = metrics.counter('decisions_total', 'Decided turns by row of the gate', ['case']);
    for (const name of CASES) this.decisions.inc({ case: name }, 0);
  }

  received(subject: string, isNews: boolean): void {
    this.messages.inc({ subject, news: String(isNews) });
  }

  outcome(order: OutcomeOrder): void {
    this.outcomes.inc({ order });
  }

  decided(gateCase: string): void {
    this.decisions.inc({ case: gateCase });
  }
}
