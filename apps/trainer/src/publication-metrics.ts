import type { Log, Metrics } from '@hindcast/platform';
import type { VersionScore } from './core/canary';

/** What publication counts, and the alarms that it raises. */
export class PublicationMetrics {
  private readonly alarms;
  private readonly driftNats;
  private readonly policyVersion;
  private readonly engines;
  private readonly canaryTurns;
  private readonly canaryScore;

  constructor(
    metrics: Metrics,
    private readonly log: Log,
  ) {
    this.alarms = metrics.counter('trainer_alarms_total', 'What needs a person: failed loads, drift, refusals', [
      'alarm',
    ]);
    this.driftNats = metrics.gauge(
      'trainer_drift_nats',
      'Distance of the newest version from the base model, nats per answer',
    );
    this.policyVersion = metrics.gauge('trainer_policy_version', 'Version that serves');
    this.engines = metrics.gauge('trainer_engine_up', '1 when the engine holds what it should', ['engine']);
    this.canaryTurns = metrics.gauge('trainer_canary_turns', 'Scored turns of the trial that runs, or of the last', [
      'side',
    ]);
    this.canaryScore = metrics.gauge('trainer_canary_score', 'Mean eval score of these turns', ['side']);
  }

  alarm(name: string, fields: object): void {
    this.alarms.inc({ alarm: name });
    this.log.error(`alarm.${name}`, fields);
  }

  drift(nats: number): void {
    this.driftNats.set(nats);
  }

  serving(version: number): void {
    this.policyVersion.set(version);
  }

  engineUp(engine: string, isUp: boolean): void {
    this.engines.set({ engine }, isUp ? 1 : 0);
  }

  trial(side: 'stable' | 'canary', { turns, mean }: VersionScore): void {
    this.canaryTurns.set({ side }, turns);
    if (mean !== null) this.canaryScore.set({ side }, mean);
  }
}
