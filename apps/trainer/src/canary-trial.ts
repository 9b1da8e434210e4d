import type { CanaryPolicy } from '@hindcast/contracts';
import { canaryVerdict, versionScore, type CanaryRule, type CanaryVerdict } from './core/canary';
import type { EngineClient } from './engine-client';
import type { EnginePublisher } from './engine-publisher';
import type { JudgedTurns } from './judged-turns';
import type { PolicyAnnouncer } from './policy-announcer';
import type { PublicationMetrics } from './publication-metrics';

export interface CanaryParts {
  readonly rule: CanaryRule;
  readonly judged: Pick<JudgedTurns, 'from'>;
  readonly publisher: EnginePublisher;
  readonly announcer: PolicyAnnouncer;
  readonly metrics: PublicationMetrics;
  readonly servedVersion: () => number;
}

/** Tries a version on a share of the sessions, beside the one that serves, and compares how their answers were judged. */
export class CanaryTrial {
  constructor(private readonly parts: CanaryParts) {}

  /** A trial was asked for. */
  get isWanted(): boolean {
    return this.parts.rule.share > 0;
  }

  /** Whether there can be one. An engine that has one set of weights at a time needs another one to compare with. */
  get isPossible(): boolean {
    const { publisher } = this.parts;
    return this.isWanted && (publisher.holding === 'named' || publisher.engines.length > 1);
  }

  /** Engines that take part where an engine has one version at a time: about the share, at least one, never all. */
  get engines(): number {
    const { rule, publisher } = this.parts;
    if (!this.isPossible) return 1;
    return Math.min(publisher.engines.length - 1, Math.max(1, Math.round(rule.share * publisher.engines.length)));
  }

  /**
   * Begins the trial, or looks how it stands.
   *
   * @param onTrial what the board says of it; `null` when it has not begun
   */
  async round(version: number, holders: readonly EngineClient[], onTrial: CanaryPolicy | null): Promise<CanaryVerdict> {
    const { rule, judged, publisher, announcer, metrics, servedVersion } = this.parts;
    const at = onTrial?.at ?? Date.now();
    const engines = holders.map(({ baseUrl }) => baseUrl);
    await announcer.tryOut({ version, adapter: publisher.modelName(version), engines, share: rule.share, at });
    const turns = await judged.from(at);
    const [stable, canary] = [versionScore(turns, servedVersion()), versionScore(turns, version)];
    metrics.trial('stable', stable);
    metrics.trial('canary', canary);
    return canaryVerdict(stable, canary, Date.now() - at, rule);
  }
}
