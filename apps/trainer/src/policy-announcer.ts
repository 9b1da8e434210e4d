import type { CanaryPolicy, CurrentPolicy, StepMetrics } from '@hindcast/contracts';
import type { Bus, Log } from '@hindcast/platform';
import type { z } from 'zod';
import { adapterName, type Manifest } from './core/manifest';
import { announcementId } from './core/publication-plan';
import type { EngineClient } from './engine-client';
import type { EnginePublisher } from './engine-publisher';
import type { NextPolicy, PolicyBoard } from './policy-board';
import type { PublicationMetrics } from './publication-metrics';
import type { VersionStore } from './version-store';

export interface AnnouncerParts {
  readonly store: VersionStore;
  readonly publisher: EnginePublisher;
  readonly board: PolicyBoard;
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: PublicationMetrics;
}

/** Before an engine has answered: gateways then ask it which weights answered, and are told. */
const UNKNOWN_HOLDING = 'replaced';

/** Says which version serves: on the board, for those who answer; on the bus, for the ledger. */
export class PolicyAnnouncer {
  constructor(private readonly parts: AnnouncerParts) {}

  /** From now on this version answers new requests. */
  async flip(version: number, holders: readonly EngineClient[], canary: CanaryPolicy | null): Promise<void> {
    const { board, publisher, log, metrics } = this.parts;
    const adapter = publisher.modelName(version);
    const engines = holders.map(({ baseUrl }) => baseUrl);
    const weights = publisher.holding ?? UNKNOWN_HOLDING;
    if (await board.announce({ version, adapter, engines, weights, canary }))
      log.info('policy.current', { version, adapter, engines, canary: canary?.version ?? null });
    metrics.serving(version);
  }

  /** From now on a version answers a share of the sessions; what serves the others stays. */
  async tryOut(canary: CanaryPolicy): Promise<void> {
    const { board, publisher, store, log } = this.parts;
    const before = await board.current();
    const version = store.servedVersion;
    const stable = {
      version,
      adapter: publisher.modelName(version),
      engines: (before?.engines ?? []).filter((url) => publisher.holding === 'named' || !canary.engines.includes(url)),
      weights: publisher.holding ?? UNKNOWN_HOLDING,
    };
    if (await board.announce({ ...stable, canary })) log.info('policy.on-trial', { ...canary, beside: version });
  }

  /** Whatever version was on trial, all sessions are answered by the one that serves. */
  async endTrial(): Promise<void> {
    const { board } = this.parts;
    const current = await board.current();
    if (current?.canary) await board.announce({ ...withoutTime(current), canary: null });
  }

  /** Records what became of a version, and tells the ledger. */
  async settle(
    version: number,
    state: 'published' | 'refused' | 'rolled-back',
    reason: string | null,
    metrics: z.infer<typeof StepMetrics>,
  ): Promise<void> {
    await this.announce(await this.parts.store.settle(version, state, reason, metrics));
  }

  /** Tells the ledger what became of a version, once or again. */
  async announce(manifest: Manifest): Promise<void> {
    const { version, parent, state, reason, turnIds, metrics } = manifest;
    if (state === 'committed') return;
    const body = {
      version,
      parent,
      state,
      reason,
      turnIds,
      adapter: adapterName(version),
      adapterDir: this.parts.store.folderOf(version),
      metrics,
    };
    const id = announcementId(manifest);
    await this.parts.bus.publish('policyUpdated', { turnId: null, tenant: 'default', id, body });
  }
}

function withoutTime({ version, adapter, engines, weights, canary }: CurrentPolicy): NextPolicy {
  return { version, adapter, engines, weights, canary };
}
