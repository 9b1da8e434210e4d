import { HindcastError } from '@hindcast/contracts';
import { adapterName, type Manifest } from './core/manifest';
import { planEngine, versionsToHold } from './core/publication-plan';
import { isVersion, labelledVersion, weightsLabel } from './core/weights-label';
import type { EngineClient, EngineModels } from './engine-client';

/**
 * How an engine has versions: each under a name of its own beside the others (adapters; whole weights in apps/engine), or one at a time in
 * place of the base model's weights (whole weights in vLLM and SGLang).
 */
export type Holding = 'named' | 'replaced';

export interface EngineState {
  readonly engine: EngineClient;
  /** Versions that it holds; `null` when it does not answer. */
  readonly versions: readonly number[] | null;
  readonly error: unknown;
}

export interface Load {
  readonly engine: EngineClient;
  readonly error: unknown;
}

/** Where versions lie. */
export interface VersionFolders {
  all(): Manifest[];
  readonly servedVersion: number;
  /** Of version 0: the base model's. */
  folderOf(version: number): string;
  hasWeights(version: number): Promise<boolean>;
}

/** Brings versions into engines and out of them. */
export class EnginePublisher {
  /** The same for all engines: the board names one model for all of them. `null` until one has answered. */
  holding: Holding | null;

  constructor(
    readonly engines: readonly EngineClient[],
    private readonly versions: VersionFolders,
    private readonly tuning: 'lora' | 'full',
  ) {
    this.holding = tuning === 'lora' ? 'named' : null;
  }

  /** Name that engines know a version by; `null` where the base model's name answers. */
  modelName(version: number): string | null {
    return version === 0 || this.holding === 'replaced' ? null : adapterName(version);
  }

  /**
   * Loads one version into engines. An engine whose only weights could not be replaced gets those of the version that serves back.
   *
   * @returns what became of it, engine by engine; nothing is thrown
   */
  async load(version: number, engines: readonly EngineClient[] = this.engines): Promise<Load[]> {
    return await Promise.all(
      engines.map(async (engine) => {
        try {
          if (this.heldBy(engine, await engine.models()) === 'named') await this.loadNamed(engine, version);
          else await this.replace(engine, version);
          return { engine, error: null };
        } catch (error) {
          return { engine, error };
        }
      }),
    );
  }

  /**
   * Loads a version where it is examined first: into every engine that has it by name; of those that have one version at a time only
   * into `count`, so that the others serve on.
   */
  async loadForTrial(version: number, count: number): Promise<Load[]> {
    await this.discover();
    if (this.holding === 'named') return await this.load(version);
    const loads: Load[] = [];
    for (const engine of this.engines) {
      if (loads.filter(({ error }) => error === null).length >= count) break;
      loads.push(...(await this.load(version, [engine])));
    }
    return loads;
  }

  /** Takes a version out of engines that hold it: unloaded, or replaced by the one that serves. Failures are left to reconciliation. */
  async withdraw(version: number, engines: readonly EngineClient[]): Promise<void> {
    await Promise.all(
      engines.map(async (engine) => {
        const { servedVersion } = this.versions;
        const work =
          this.holding === 'replaced'
            ? this.replace(engine, servedVersion)
            : this.unloadNamed(engine, adapterName(version));
        await work.catch(() => undefined);
      }),
    );
  }

  /**
   * Gives every engine the versions that it should have, and takes away our older ones. A failing engine stops no other.
   *
   * @param spare version under examination or on trial, neither loaded nor taken away here
   */
  async reconcile(spare: number | null): Promise<EngineState[]> {
    const hold: number[] = [];
    for (const version of versionsToHold(this.versions.all())) {
      if (await this.versions.hasWeights(version)) hold.push(version);
    }
    return await Promise.all(this.engines.map((engine) => this.reconcileOne(engine, hold, spare)));
  }

  private async reconcileOne(
    engine: EngineClient,
    hold: readonly number[],
    spare: number | null,
  ): Promise<EngineState> {
    const versions: number[] = [];
    try {
      const models = await engine.models();
      if (this.heldBy(engine, models) === 'named') await this.reconcileNamed(engine, models, hold, spare, versions);
      else versions.push(await this.reconcileReplaced(engine, spare));
      return { engine, versions, error: null };
    } catch (error) {
      // What it held before the failure it still holds; that it answered at all is told by a list that is not empty.
      return { engine, versions: versions.length > 0 ? versions : null, error };
    }
  }

  private async reconcileNamed(
    engine: EngineClient,
    { names }: EngineModels,
    hold: readonly number[],
    spare: number | null,
    held: number[],
  ): Promise<void> {
    const plan = planEngine(names, hold, spare);
    held.push(...hold.filter((version) => !plan.load.includes(version)));
    for (const version of plan.load) {
      await this.loadNamed(engine, version);
      held.push(version);
    }
    for (const name of plan.unload) await this.unloadNamed(engine, name);
  }

  /** @returns the version that it has now */
  private async reconcileReplaced(engine: EngineClient, spare: number | null): Promise<number> {
    const { servedVersion } = this.versions;
    const label = await engine.weights.label();
    if (spare !== null && labelledVersion(label) === spare) return spare;
    if (!isVersion(label, servedVersion)) await this.replace(engine, servedVersion);
    return servedVersion;
  }

  private async loadNamed(engine: EngineClient, version: number): Promise<void> {
    // The base model is there under its own name.
    if (version === 0) return;
    const path = this.versions.folderOf(version);
    if (this.tuning === 'lora') await engine.loadAdapter(adapterName(version), path);
    else await engine.loadWeights(adapterName(version), path);
  }

  private async unloadNamed(engine: EngineClient, name: string): Promise<void> {
    if (this.tuning === 'lora') await engine.unloadAdapter(name);
    else await engine.unloadWeights(name);
  }

  private async replace(engine: EngineClient, version: number): Promise<void> {
    if (isVersion(await engine.weights.label(), version)) return;
    try {
      await this.give(engine, version);
    } catch (error) {
      const { servedVersion } = this.versions;
      if (servedVersion !== version) await this.give(engine, servedVersion).catch(() => undefined);
      throw error;
    }
  }

  private async give(engine: EngineClient, version: number): Promise<void> {
    await engine.weights.replace(this.versions.folderOf(version), weightsLabel(version, Date.now()));
  }

  /** Asks engine after engine how they have versions, until one answers. */
  private async discover(): Promise<void> {
    for (const engine of this.engines) {
      if (this.holding !== null) return;
      await engine
        .models()
        .then((models) => this.heldBy(engine, models))
        .catch(() => undefined);
    }
  }

  /** @throws HindcastError when the engine has versions otherwise than those before it */
  private heldBy(engine: EngineClient, { namesWeights }: EngineModels): Holding {
    const holding: Holding = this.tuning === 'lora' || namesWeights ? 'named' : 'replaced';
    this.holding ??= holding;
    if (holding === this.holding) return holding;
    throw new HindcastError(
      'config-invalid',
      `${engine.baseUrl} has whole weights ${holding === 'named' ? 'by name' : 'one at a time'}, the other engines do not: publish to one kind`,
    );
  }
}
