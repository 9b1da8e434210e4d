import { setTimeout as sleep } from 'node:timers/promises';
import { Bus, Log, Metrics, crashPoint, withLogContext } from '@hindcast/platform';
import { adapterName, type Manifest } from './core/manifest';
import { announcementId, announcements } from './core/publication-plan';
import type { EngineClient } from './engine-client';
import type { EnginePublisher } from './engine-publisher';
import type { Examination, Verdict } from './examination';
import type { PolicyBoard } from './policy-board';
import type { VersionStore } from './version-store';

const RETRY_MS = 2_000;
const PASSED: Verdict = { passed: true, driftNats: null, isAlarming: false };

export interface PublicationParts {
  readonly store: VersionStore;
  readonly publisher: EnginePublisher;
  readonly examination: Examination;
  readonly board: PolicyBoard;
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly shutdown: AbortSignal;
}

/**
 * Brings a committed version into service: loaded into the engines, examined, flipped on the board, recorded, announced.
 * Each step can be repeated, so a crash between any two is completed at the next start. Whatever fails, the old version serves on.
 */
export class Publication {
  /** Publication and reconciliation take turns: both load and unload. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: PublicationParts) {}

  /** Publishes or refuses a committed version; tries until one of both is done, or the service stops. */
  async publish(manifest: Manifest): Promise<void> {
    await withLogContext({ policyVersion: manifest.version }, async () => {
      for (;;) {
        try {
          if (await this.alone(() => this.attempt(manifest))) return;
        } catch (error) {
          this.alarm('publication', { error });
        }
        await sleep(RETRY_MS, undefined, { signal: this.parts.shutdown });
      }
    });
  }

  /** Tells the bus again what became of every version. */
  async announceAll(): Promise<void> {
    for (const manifest of announcements(this.parts.store.all())) await this.announce(manifest);
  }

  /** Makes engines and board agree with the store. */
  async reconcile(): Promise<void> {
    await this.alone(async () => {
      const { store, publisher, board, log } = this.parts;
      const pending = store.all().find(({ state }) => state === 'committed')?.version ?? null;
      const states = await publisher.reconcile(pending);
      for (const { engine, error } of states) {
        this.engineUp.set({ engine: engine.baseUrl }, error === null ? 1 : 0);
        if (error !== null) log.warn('engine.unreconciled', { engine: engine.baseUrl, error });
      }
      const served = store.servedVersion;
      const onBoard = await board.current();
      if (await store.numberAbove(onBoard?.version ?? 0)) {
        log.error('alarm.policy-rewound', { announced: onBoard?.version, served, folder: store.folder });
      }
      // A flip that was made before a crash is recorded by the publication that is completed; until then it stands.
      if (pending !== null && onBoard?.version === pending) return;
      const holders = states.filter(({ versions }) => served === 0 || versions?.includes(served));
      // With every engine away the list on the board is still the best that is known.
      if (holders.length === 0 && onBoard?.version === served) return;
      await this.flip(
        served,
        holders.map(({ engine }) => engine),
      );
    });
  }

  private async attempt({ version }: Manifest): Promise<boolean> {
    const { store, publisher, board } = this.parts;
    const manifest = store.get(version);
    if (manifest.state !== 'committed') {
      // Settled by an attempt that only failed to say so.
      await this.announce(manifest);
      return true;
    }
    const loads = await publisher.load(version);
    for (const { engine, error } of loads) if (error !== null) this.alarm('load', { engine: engine.baseUrl, error });
    const loaded = loads.filter(({ error }) => error === null).map(({ engine }) => engine);

    const isServing = (await board.current())?.version === version;
    const { holders, verdict } = isServing ? { holders: loaded, verdict: PASSED } : await this.examine(loaded, version);
    if (holders.length === 0) return false;
    const drift: Record<string, number> = verdict.driftNats === null ? {} : { drift_nats: verdict.driftNats };
    if (verdict.driftNats !== null) this.drift.set(verdict.driftNats);
    if (!verdict.passed) {
      this.alarm('refused', { reason: verdict.reason });
      const refused = await store.settle(version, 'refused', verdict.reason, drift);
      for (const engine of loaded) await engine.unloadAdapter(adapterName(version)).catch(() => undefined);
      await this.announce(refused);
      return true;
    }
    if (verdict.isAlarming) this.alarm('drift', drift);
    crashPoint('after-load');
    await this.flip(version, holders);
    await this.announce(await store.settle(version, 'published', null, drift));
    return true;
  }

  /** Probes every engine that loaded the version; one that does not answer its probe does not hold it. */
  private async examine(
    loaded: readonly EngineClient[],
    version: number,
  ): Promise<{ holders: readonly EngineClient[]; verdict: Verdict }> {
    const { store, examination } = this.parts;
    const name = adapterName(version);
    const holders: EngineClient[] = [];
    for (const engine of loaded) {
      try {
        const reason = await examination.probe(engine, name);
        holders.push(engine);
        if (reason !== null) return { holders, verdict: { passed: false, driftNats: null, reason } };
      } catch (error) {
        this.alarm('probe', { engine: engine.baseUrl, error });
      }
    }
    const [first] = holders;
    if (!first) return { holders, verdict: PASSED };
    return { holders, verdict: await examination.drift(first, name, await store.weightsOf(version)) };
  }

  private async flip(version: number, holders: readonly EngineClient[]): Promise<void> {
    const { board, log } = this.parts;
    const adapter = version === 0 ? null : adapterName(version);
    const engines = holders.map(({ baseUrl }) => baseUrl);
    if (await board.announce({ version, adapter, engines })) log.info('policy.current', { version, adapter, engines });
    this.policyVersion.set(version);
  }

  private async announce(manifest: Manifest): Promise<void> {
    if (manifest.state === 'committed') return;
    const { version, parent, state, reason, turnIds, metrics } = manifest;
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
    await this.parts.bus.publish('policyUpdated', {
      turnId: null,
      tenant: 'default',
      id: announcementId(manifest),
      body,
    });
  }

  private alarm(name: string, fields: object): void {
    this.alarms.inc({ alarm: name });
    this.parts.log.error(`alarm.${name}`, fields);
  }

  private async alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => undefined);
    return await result;
  }

  private get alarms() {
    return this.parts.metrics.counter('trainer_alarms_total', 'What needs a person: failed loads, drift, refusals', [
      'alarm',
    ]);
  }
  private get drift() {
    return this.parts.metrics.gauge(
      'trainer_drift_nats',
      'Distance of the newest version from the base model, nats per answer',
    );
  }
  private get policyVersion() {
    return this.parts.metrics.gauge('trainer_policy_version', 'Version that serves');
  }
  private get engineUp() {
    return this.parts.metrics.gauge('trainer_engine_up', '1 when the engine holds what it should', ['engine']);
  }
}
