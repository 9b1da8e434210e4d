import type { Log, Metrics } from '@hindcast/platform';
import type { VersionScore } from './core/canary';

/** Known beforehand, so that the first of a kind already is an increase. */
const ALARMS = ['load', 'probe', 'publication', 'drift', 'refused', 'canary', 'rolled-back'] as const;
type Alarm = (typeof ALARMS)[number];

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
    for (const alarm of ALARMS) this.alarms.inc({ alarm }, 0);
    // Not measured is no number, and no version announced is not the base model.
    this.driftNats.remove();
    this.policyVersion.remove();
  }

  alarm(name: Alarm, fields: object): void {
    this.alarms.inc({ alarm: name });
    this.log.error(`alarm.${name}`, fields);
  }

  drift(nats: number): void {
    this.driftNats.set(nats);
  }

  serving(version: number): void {
    this.policyVersion.set(version);
  }

  engineUp(baseUrl: string, isUp: boolean): void {
    // As the gateways name it, and without what may be secret in an address.
    const { host, pathname } = new URL(baseUrl);
    const engine = host + pathname.replace(/\/v1$/, '').replace(/\/$/, '');
    this.engines.set({ engine }, isUp ? 1 : 0);
  }

  trial(side: 'stable' | 'canary', { turns, mean }: VersionScore): void {
    this.canaryTurns.set({ side }, turns);
    if (mean !== null) this.canaryScore.set({ side }, mean);
  }
}
