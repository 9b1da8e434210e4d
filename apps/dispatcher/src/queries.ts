import { Injectable } from '@nestjs/common';
import { Bus, Health, Metrics } from '@hindcast/platform';
import { Database } from './database';
import { Ledger } from './ledger';
import { Sessions } from './sessions';

/** Versions whose verdicts `/metrics` shows: enough to see a trend, few enough to keep its labels bounded. */
const SHOWN_VERSIONS = 10;

/** Answers the gateway's questions, and says on `/readyz` and `/metrics` how the ledger stands. */
@Injectable()
export class Queries {
  constructor(
    private readonly bus: Bus,
    private readonly ledger: Ledger,
    private readonly sessions: Sessions,
    private readonly database: Database,
    private readonly health: Health,
    private readonly metrics: Metrics,
  ) {}

  start(): void {
    this.bus.respond('turn', async ({ tenant, id }) => {
      const turn = await this.ledger.story(tenant, id);
      return turn === null ? { found: false } : { found: true, turn };
    });
    this.bus.respond('status', ({ tenant }) => this.ledger.status(tenant));
    this.health.addCheck('database', () => this.database.check());
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
      const verdicts = await this.ledger.verdicts(SHOWN_VERSIONS).catch(() => []);
      for (const gauge of [judged, scores, hints]) gauge.reset();
      for (const { policyVersion, turns, meanEvalScore, hintRate } of verdicts) {
        const version = String(policyVersion);
        judged.set({ version }, turns);
        if (meanEvalScore !== null) scores.set({ version }, meanEvalScore);
        hints.set({ version }, hintRate);
      }
    });
    this.metrics.onScrape('ledger', async () => {
      const status = await this.ledger.status(null).catch(() => null);
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
