import { setTimeout as sleep } from 'node:timers/promises';
import type { RollbackAnswer, RollbackWish } from '@hindcast/contracts';
import type { Log, WorkerSlots } from '@hindcast/platform';
import { earlierVersions, unpublished } from './core/manifest';
import { settingsToGoOn } from './core/tuning-match';
import type { Publication } from './publication';
import type { RollbackSource } from './rollback-source';
import type { VersionStore } from './version-store';

const LOOK_MS = 500;
const RETRY_MS = 2_000;

export interface RollbacksParts {
  /** Where people ask for one. */
  readonly sources: readonly RollbackSource[];
  readonly store: VersionStore;
  readonly publication: Publication;
  /** Shared with steps: no version is committed while another one is put into service. */
  readonly serving: WorkerSlots;
  readonly log: Log;
}

/** Puts earlier versions back into service: because somebody asks for it, or because the files of the one that serves are damaged. */
export class Rollbacks {
  constructor(private readonly parts: RollbacksParts) {}

  /** Looks for requests until the service stops. */
  async watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      const isSettled = await this.takeUp().catch((error: unknown) => {
        this.parts.log.error('rollback.failed', { error });
        return false;
      });
      await sleep(isSettled ? LOOK_MS : RETRY_MS, undefined, { signal });
    }
  }

  /**
   * Does what is asked for, if anything is.
   *
   * @returns whether nothing is left to do; what fails for reasons outside stays asked for
   */
  async takeUp(): Promise<boolean> {
    let isSettled = true;
    for (const source of this.parts.sources) {
      const wish = await source.wish();
      if (!wish) continue;
      const told = await this.done(wish);
      await source.answer({ id: wish.id, version: wish.version, ...told, at: Date.now() });
      isSettled &&= told.state !== 'failed';
    }
    return isSettled;
  }

  /**
   * Goes around files that are not what was committed. Which turns a version was trained on stands in its manifest, so its turns stay
   * trained; its weights serve no longer, for an engine that is started again could not load them.
   */
  async leaveDamaged(): Promise<void> {
    const { store, log } = this.parts;
    for (const { version } of unpublished(store.all())) {
      const damage = await store.damageOf(version);
      if (damage === null) continue;
      log.error('alarm.policy-damaged', { version, damage });
      await store.settle(version, 'refused', textOf(`damaged: ${damage}`), {});
    }
    const served = store.servedVersion;
    const damage = await store.damageOf(served);
    if (damage === null) return;
    const target = await this.newestSound();
    log.error('alarm.policy-damaged', { version: served, damage, goesOnFrom: target });
    await this.rollBack(target, `rolled back to version ${target}, damaged: ${damage}`);
  }

  private async done({ version, reason }: RollbackWish): Promise<Pick<RollbackAnswer, 'state' | 'message'>> {
    const { store, log } = this.parts;
    try {
      // Asked twice, or cut short by a crash after all was settled.
      if (version === store.servedVersion) return { state: 'done', message: null };
      const refusal = await this.refusalOf(version);
      if (refusal !== null) return { state: 'refused', message: refusal };
      await this.rollBack(version, `rolled back to version ${version}${reason === null ? '' : `: ${reason}`}`);
      log.warn('policy.rolled-back', { version, reason });
      return { state: 'done', message: null };
    } catch (error) {
      log.error('rollback.failed', { version, error });
      return { state: 'failed', message: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Why a version cannot serve, or `null`. */
  private async refusalOf(version: number): Promise<string | null> {
    const { store } = this.parts;
    if (version === 0) return null;
    const earlier = earlierVersions(store.all());
    if (!earlier.includes(version))
      return `version ${version} did not serve before version ${store.servedVersion}; these did: ${[...earlier, 0].join(', ')}`;
    if (!(await store.hasWeights(version)))
      return `the weights of version ${version} are deleted, KEEP_VERSIONS says how many are kept; these are there: ${await this.kept()}`;
    const settings = settingsToGoOn(store.get(version).hyperparameters, store.tuning);
    if (settings !== null)
      return `version ${version} was trained otherwise; start the trainer with ${settings} to go back to it`;
    const damage = await store.damageOf(version);
    return damage && `${damage}; restore it from a backup, or go back to another one of ${await this.kept()}`;
  }

  /** Earlier versions that still have their weights, newest first, and the base model. */
  private async kept(): Promise<string> {
    const { store } = this.parts;
    const earlier = earlierVersions(store.all());
    const isThere = await Promise.all(earlier.map((version) => store.hasWeights(version)));
    return [...earlier.filter((_, i) => isThere[i]), 0].join(', ');
  }

  private async newestSound(): Promise<number> {
    for (const version of earlierVersions(this.parts.store.all()))
      if ((await this.refusalOf(version)) === null) return version;
    return 0;
  }

  private async rollBack(version: number, reason: string): Promise<void> {
    const { serving, publication } = this.parts;
    await serving.run(() => publication.rollBack(version, textOf(reason)));
  }
}

/** As much as a manifest takes. */
const textOf = (reason: string): string => reason.slice(0, 1000);
