import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError } from '@hindcast/contracts';
import { withLogContext } from '@hindcast/platform';
import type { Manifest } from './core/manifest';
import { announcements } from './core/publication-plan';
import { PublicationAttempt, type AttemptParts } from './publication-attempt';

const RETRY_MS = 2_000;

export interface PublicationParts extends AttemptParts {
  readonly shutdown: AbortSignal;
  /** How often a trial that runs is looked at, milliseconds. */
  readonly pollMs: number;
}

/** Keeps the right version in service: publishes new ones, goes back to older ones, repairs what engines and board lost. */
export class Publication {
  /** Publication, rollback and reconciliation take turns: all of them load and unload. */
  private turn: Promise<unknown> = Promise.resolve();
  private readonly attempt: PublicationAttempt;

  constructor(private readonly parts: PublicationParts) {
    this.attempt = new PublicationAttempt(parts);
  }

  /** Publishes a committed version, or settles that it will not serve; tries until one of both is done, or the service stops. */
  async publish({ version }: Manifest): Promise<void> {
    const { metrics, pollMs, shutdown } = this.parts;
    await withLogContext({ policyVersion: version }, async () => {
      for (;;) {
        let waitMs = RETRY_MS;
        try {
          const outcome = await this.alone(() => this.attempt.publish(version));
          if (outcome === 'settled') return;
          if (outcome === 'on-trial') waitMs = pollMs;
        } catch (error) {
          metrics.alarm('publication', { error });
        }
        await sleep(waitMs, undefined, { signal: shutdown });
      }
    });
  }

  /** Tells the bus again what became of every version. */
  async announceAll(): Promise<void> {
    for (const manifest of announcements(this.parts.store.all())) await this.parts.announcer.announce(manifest);
  }

  /**
   * Puts an earlier published version back into service (0: the base model). What came after it never serves again. Can be repeated: a
   * rollback that a crash cut short is completed by asking for it again.
   *
   * @throws RangeError when the version was never published or its weights are gone
   * @throws HindcastError `engine-unreachable` when no engine took it; then the version that serves goes on
   */
  async rollBack(version: number, reason = `rolled back to version ${version}`): Promise<void> {
    await this.alone(async () => {
      const { store, publisher, announcer, metrics } = this.parts;
      if (version > 0 && (store.get(version).state !== 'published' || !(await store.hasWeights(version))))
        throw new RangeError(`version ${version} cannot serve: it was never published, or its weights are gone`);
      const later = store
        .all()
        .filter(({ version: other, state }) => other > version && (state === 'published' || state === 'committed'));
      const holders = await this.attempt.load(version);
      if (publisher.engines.length > 0 && holders.length === 0)
        throw new HindcastError('engine-unreachable', `no engine took version ${version}; the one that serves goes on`);
      for (const { version: other } of later.toReversed()) await store.settle(other, 'rolled-back', reason, {});
      await announcer.flip(version, holders, null);
      if (later.length > 0) metrics.alarm('rolled-back', { version, reason });
      for (const { version: other } of later) await announcer.announce(store.get(other));
    });
  }

  /** Makes engines and board agree with the store. */
  async reconcile(): Promise<void> {
    await this.alone(async () => {
      const { store, publisher, announcer, board, log, metrics } = this.parts;
      const pending = store.all().find(({ state }) => state === 'committed')?.version ?? null;
      const states = await publisher.reconcile(pending);
      for (const { engine, error } of states) {
        metrics.engineUp(engine.baseUrl, error === null);
        if (error !== null) log.warn('engine.unreconciled', { engine: engine.baseUrl, error });
      }
      const served = store.servedVersion;
      const onBoard = await board.current();
      if (await store.numberAbove(Math.max(onBoard?.version ?? 0, onBoard?.canary?.version ?? 0))) {
        log.error('alarm.policy-rewound', { announced: onBoard?.version, served, folder: store.folder });
      }
      // A flip that was made before a crash is recorded by the publication that is completed; until then it stands.
      if (pending !== null && onBoard?.version === pending) return;
      const isEverywhere = served === 0 && publisher.holding === 'named';
      const holders = states.filter(({ versions }) => isEverywhere || versions?.includes(served));
      // With every engine away the list on the board is still the best that is known.
      if (holders.length === 0 && onBoard !== null && (onBoard.version === served || publisher.holding === null))
        return;
      const canary = onBoard?.canary?.version === pending ? (onBoard?.canary ?? null) : null;
      const engines = holders.map(({ engine }) => engine);
      await announcer.flip(served, engines, canary);
    });
  }

  private async alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => undefined);
    return await result;
  }
}
