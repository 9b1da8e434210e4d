import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';
import { LedgerOverviewReader } from './ledger-overview';
import { LedgerTraining } from './ledger-training';
import { Sessions } from './sessions';

/** Versions whose verdicts `/metrics` shows: enough to see a trend, few enough to keep its labels bounded. */
const SHOWN_VERSIONS = 10;

/** Says on `/metrics` how the ledger stands. */
@Injectable()
export class LedgerGauges {
  constructor(
    private readonly overview: LedgerOverviewReader,
    private readonly training: LedgerTraining,
    private readonly sessions: Sessions,
    private readonly metrics: Metrics,
  ) {}

  start(): void {
    const up = this.metrics.gauge('ledger_up', '1 when the ledger answered this scrape');
    const turns = this.metrics.gauge('ledger_turns', 'Turns by where they ended', ['ending']);
    const cases = this.metrics.gauge('ledger_cases', 'Paired turns by row of the gate', ['case']);
    const waiting = this.metrics.gauge('ledger_waiting_samples', 'Samples neither trained nor refused');
    const held = this.metrics.gauge('ledger_held_turns', 'Judged turns that wait for the outcome of their session');
    const judged = this.metrics.gauge('ledger_version_turns', 'Judged turns by the version that answered', ['version']);
    const scores = this.metrics.gauge('ledger_version_eval_score', 'Mean eval score by the version that answered', [
      'version',
    ]);
    const hints = this.metrics.gauge(
      'ledger_version_hint_rate',
      'Share of judged turns with an accepted hint, by the version that answered',
      ['version'],
    );
    this.metrics.onScrape('verdicts', async () => {
      const verdicts = await this.training.verdicts(SHOWN_VERSIONS).catch(() => []);
      for (const gauge of [judged, scores, hints]) gauge.reset();
      for (const { policyVersion, turns, meanEvalScore, hintRate } of verdicts) {
        const version = String(policyVersion);
        judged.set({ version }, turns);
        if (meanEvalScore !== null) scores.set({ version }, meanEvalScore);
        hints.set({ version }, hintRate);
      }
    });
    this.metrics.onScrape('ledger', async () => {
      const status = await this.overview.status(null).catch(() => null);
      up.set(status === null ? 0 : 1);
      // Unknown is no number: the series disappear until the database answers.
      for (const gauge of [turns, cases]) gauge.reset();
      if (status === null) return waiting.remove();
      const { captured: _, ...endings } = status.turns;
      for (const [ending, count] of Object.entries(endings)) turns.set({ ending }, count);
      for (const [gateCase, count] of Object.entries(status.cases)) cases.set({ case: gateCase }, count);
      waiting.set(status.waitingSamples);
    });
    this.metrics.onScrape('held', async () => {
      const count = await this.sessions.heldTurns().catch(() => null);
      if (count === null) held.remove();
      else held.set(count);
    });
  }
}
