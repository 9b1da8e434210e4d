import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { adapterVersion, type ListedModel } from './core/route-model';
import { EngineClient } from './engine-client';

const FRESH_MS = 5_000;
/** A name that may have been loaded a moment ago is looked up again, but not more often than this. */
const RECHECK_MS = 250;

interface EngineList {
  readonly raw: readonly unknown[];
  readonly listed: readonly ListedModel[];
}

/** Which models each engine has loaded, remembered for a few seconds. */
@Injectable()
export class EngineModels {
  private readonly lists = new Map<string, EngineList>();
  private readonly refreshing = new Map<string, Promise<EngineList | null>>();
  /** When an engine was last asked, whatever came of it. */
  private readonly askedAt = new Map<string, number>();

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly client: EngineClient,
  ) {}

  /** Asks the engine now; the last known list where it does not answer. */
  refresh(engine: string): Promise<EngineList | null> {
    if (!this.refreshing.has(engine)) this.askedAt.set(engine, Date.now());
    const running =
      this.refreshing.get(engine) ??
      this.client
        .models(engine)
        .then(({ raw, listed }) => {
          const list: EngineList = { raw, listed };
          this.lists.set(engine, list);
          return list;
        })
        .catch(() => this.lists.get(engine) ?? null)
        .finally(() => this.refreshing.delete(engine));
    this.refreshing.set(engine, running);
    return running;
  }

  /** Engines that list a model of this name. */
  holders(name: string): ReadonlySet<string> {
    return new Set(this.config.POLICY_BASE_URL.filter((engine) => this.listedBy(engine).some(({ id }) => id === name)));
  }

  listedBy(engine: string): readonly ListedModel[] {
    return this.lists.get(engine)?.listed ?? [];
  }

  /**
   * Models of all engines. Waits for an engine that was never asked, for all while none has ever answered, and for those that may
   * have loaded the version called `name` since. One that is away delays no request that another one can answer.
   *
   * @returns no promise where it waits for none
   */
  listed(name: string | null): readonly ListedModel[] | Promise<readonly ListedModel[]> {
    const now = Date.now();
    const isBlind = this.lists.size === 0;
    const mayBeNew = name !== null && (this.config.STRICT_MODEL || adapterVersion(name) !== null);
    const waits: Promise<unknown>[] = [];
    for (const engine of this.config.POLICY_BASE_URL) {
      const list = this.lists.get(engine);
      const age = now - (this.askedAt.get(engine) ?? -Infinity);
      const isMissing = list ? mayBeNew && !list.listed.some(({ id }) => id === name) : isBlind || age === Infinity;
      if (isMissing && (age > RECHECK_MS || this.refreshing.has(engine))) waits.push(this.refresh(engine));
      else if (age > FRESH_MS) void this.refresh(engine);
    }
    const all = (): readonly ListedModel[] => this.config.POLICY_BASE_URL.flatMap((engine) => this.listedBy(engine));
    return waits.length > 0 ? Promise.all(waits).then(all) : all();
  }

  /** Union of the engines' own lists, fresh; `null` when no engine answers and none ever did. */
  async all(): Promise<readonly unknown[] | null> {
    const lists = (await Promise.all(this.config.POLICY_BASE_URL.map((engine) => this.refresh(engine)))).filter(
      (list) => list !== null,
    );
    if (lists.length === 0) return null;
    const models = new Map<string, unknown>();
    for (const list of lists) for (const model of list.raw) models.set((model as { id: string }).id, model);
    return [...models.values()];
  }
}
