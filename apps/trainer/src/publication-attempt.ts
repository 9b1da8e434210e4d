import type { CanaryPolicy } from '@hindcast/contracts';
import { crashPoint, type Log } from '@hindcast/platform';
import type { CanaryTrial } from './canary-trial';
import type { Manifest } from './core/manifest';
import type { EngineClient } from './engine-client';
import type { EnginePublisher, Load } from './engine-publisher';
import type { Examination, Verdict } from './examination';
import type { PolicyAnnouncer } from './policy-announcer';
import type { PolicyBoard } from './policy-board';
import type { PublicationMetrics } from './publication-metrics';
import type { VersionStore } from './version-store';

const PASSED: Verdict = { passed: true, driftNats: null, isAlarming: false };

export interface AttemptParts {
  readonly store: VersionStore;
  readonly publisher: EnginePublisher;
  readonly examination: Examination;
  readonly trial: CanaryTrial;
  readonly announcer: PolicyAnnouncer;
  readonly board: PolicyBoard;
  readonly log: Log;
  readonly metrics: PublicationMetrics;
  /** Why a version may not even be loaded; `null`: it may. */
  readonly refusalOf: (manifest: Manifest) => string | null;
}

/** What an attempt came to: the version is settled, or is to be tried again, or is on trial for some time more. */
export type Outcome = 'settled' | 'failed' | 'on-trial';

/**
 * One attempt to bring a committed version into service: loaded into the engines, examined, tried on a share of the sessions, flipped on
 * the board, recorded, announced. Each step can be repeated, so a crash between any two is completed by the next attempt. Whatever
 * fails, the old version serves on.
 */
export class PublicationAttempt {
  /** Result of the last examination: a trial goes on long after it. */
  private examined: { readonly version: number; readonly verdict: Verdict } | null = null;

  constructor(private readonly parts: AttemptParts) {}

  async publish(version: number): Promise<Outcome> {
    const { store, announcer, board } = this.parts;
    const manifest = store.get(version);
    if (manifest.state !== 'committed') {
      // Settled by an attempt that only failed to say so, or rolled back meanwhile.
      await announcer.announce(manifest);
      return 'settled';
    }
    const current = await board.current();
    if (current?.version === version) return await this.complete(version);
    const { parent } = manifest;
    if (parent !== store.servedVersion)
      return await this.settle(
        version,
        'rolled-back',
        `version ${parent}, which it was trained from, was rolled back`,
        [],
      );
    const refusal = this.parts.refusalOf(manifest);
    if (refusal !== null) return await this.refuse(version, refusal, []);
    return await this.introduce(version, current?.canary?.version === version ? current.canary : null);
  }

  /** Loads a version into every engine. @returns the engines that hold it */
  async load(version: number): Promise<readonly EngineClient[]> {
    return this.holders(await this.parts.publisher.load(version));
  }

  /** The flip was made before a crash; what is left is to record it. */
  private async complete(version: number): Promise<Outcome> {
    const holders = await this.load(version);
    return holders.length === 0 ? 'failed' : await this.serve(version, holders, {});
  }

  private async introduce(version: number, onTrial: CanaryPolicy | null): Promise<Outcome> {
    const { publisher, trial, metrics } = this.parts;
    let holders: readonly EngineClient[] = this.holders(await publisher.loadForTrial(version, trial.engines));
    if (holders.length === 0) return 'failed';
    const isNew = onTrial === null && this.examined?.version !== version;
    if (isNew) {
      const result = await this.examine(holders, version);
      holders = result.holders;
      if (holders.length === 0) return 'failed';
      this.examined = { version, verdict: result.verdict };
    }
    // Examined before a restart, it passed: else it would not be on trial.
    const verdict = this.examined?.version === version ? this.examined.verdict : PASSED;
    const drift: Record<string, number> = verdict.driftNats === null ? {} : { drift_nats: verdict.driftNats };
    if (verdict.driftNats !== null) metrics.drift(verdict.driftNats);
    if (!verdict.passed) return await this.refuse(version, verdict.reason, holders, drift);
    if (isNew && verdict.isAlarming) metrics.alarm('drift', drift);
    if (isNew && trial.isWanted && !trial.isPossible)
      this.parts.log.warn('canary.impossible', { engines: publisher.engines.length });
    crashPoint('after-load');

    if (trial.isPossible) {
      const result = await trial.round(version, holders, onTrial);
      if (result.kind === 'wait') return 'on-trial';
      this.parts.log.info('canary.over', result);
      if (result.kind === 'roll-back') {
        metrics.alarm('canary', { reason: result.reason });
        return await this.settle(version, 'rolled-back', result.reason, holders, drift);
      }
    }
    if (publisher.holding === 'replaced') holders = await this.load(version);
    return holders.length === 0 ? 'failed' : await this.serve(version, holders, drift);
  }

  private async serve(
    version: number,
    holders: readonly EngineClient[],
    drift: Record<string, number>,
  ): Promise<Outcome> {
    await this.parts.announcer.flip(version, holders, null);
    await this.parts.announcer.settle(version, 'published', null, drift);
    return 'settled';
  }

  private async refuse(
    version: number,
    reason: string,
    holders: readonly EngineClient[],
    drift: Record<string, number> = {},
  ): Promise<Outcome> {
    this.parts.metrics.alarm('refused', { reason });
    return await this.settle(version, 'refused', reason, holders, drift);
  }

  /** It will not serve: out of the engines, off the board, recorded. */
  private async settle(
    version: number,
    state: 'refused' | 'rolled-back',
    reason: string,
    holders: readonly EngineClient[],
    drift: Record<string, number> = {},
  ): Promise<Outcome> {
    const { publisher, announcer } = this.parts;
    await announcer.endTrial();
    await publisher.withdraw(version, holders);
    await announcer.settle(version, state, reason, drift);
    return 'settled';
  }

  /** Probes every engine that loaded the version; one that does not answer its probe does not hold it. */
  private async examine(
    loaded: readonly EngineClient[],
    version: number,
  ): Promise<{ holders: readonly EngineClient[]; verdict: Verdict }> {
    const { store, examination, publisher, metrics } = this.parts;
    const model = publisher.modelName(version);
    const holders: EngineClient[] = [];
    for (const engine of loaded) {
      try {
        const reason = await examination.probe(engine, model);
        holders.push(engine);
        if (reason !== null) return { holders, verdict: { passed: false, driftNats: null, reason } };
      } catch (error) {
        metrics.alarm('probe', { engine: engine.baseUrl, error });
      }
    }
    const [first] = holders;
    if (!first) return { holders, verdict: PASSED };
    return { holders, verdict: await examination.drift(first, model, await store.weightsOf(version)) };
  }

  private holders(loads: readonly Load[]): EngineClient[] {
    for (const { engine, error } of loads)
      if (error !== null) this.parts.metrics.alarm('load', { engine: engine.baseUrl, error });
    return loads.filter(({ error }) => error === null).map(({ engine }) => engine);
  }
}
