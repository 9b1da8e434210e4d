import { adapterName, type Manifest } from './core/manifest';
import { planEngine, versionsToHold } from './core/publication-plan';
import type { EngineClient } from './engine-client';

export interface EngineState {
  readonly engine: EngineClient;
  /** Versions that it holds; `null` when it does not answer. */
  readonly versions: readonly number[] | null;
  readonly error: unknown;
}

/** Brings adapters into engines and out of them. */
export class EnginePublisher {
  constructor(
    readonly engines: readonly EngineClient[],
    private readonly versions: {
      all(): Manifest[];
      folderOf(version: number): string;
      hasWeights(version: number): Promise<boolean>;
    },
  ) {}

  /** Loads one version into every engine. @returns what became of it, engine by engine; nothing is thrown */
  async load(version: number): Promise<{ engine: EngineClient; error: unknown }[]> {
    return await Promise.all(
      this.engines.map(async (engine) => {
        try {
          await engine.loadAdapter(adapterName(version), this.versions.folderOf(version));
          return { engine, error: null };
        } catch (error) {
          return { engine, error };
        }
      }),
    );
  }

  /** Gives every engine the adapters that it should have, and takes away our older ones. A failing engine stops no other. */
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
      const plan = planEngine(models, hold, spare);
      versions.push(...hold.filter((version) => !plan.load.includes(version)));
      for (const version of plan.load) {
        await engine.loadAdapter(adapterName(version), this.versions.folderOf(version));
        versions.push(version);
      }
      for (const name of plan.unload) await engine.unloadAdapter(name);
      return { engine, versions, error: null };
    } catch (error) {
      // What it held before the failure it still holds; that it answered at all is told by a list that is not empty.
      return { engine, versions: versions.length > 0 ? versions : null, error };
    }
  }
}
