import { adapterName, versionOfAdapter, type Manifest } from './manifest';

/** Adapters that every engine should hold: the one that serves and those just before it, which running requests may use. */
export const KEPT_ADAPTERS = 3;

/** Versions that engines should hold, newest first. */
export function versionsToHold(manifests: readonly Manifest[], keep = KEPT_ADAPTERS): number[] {
  return manifests
    .filter(({ state }) => state === 'published')
    .map(({ version }) => version)
    .sort((a, b) => b - a)
    .slice(0, keep);
}

export interface EnginePlan {
  /** Versions to load, the serving one first. */
  readonly load: readonly number[];
  /** Adapter names to unload: our own that are no longer wanted. Models of others are left alone. */
  readonly unload: readonly string[];
}

/**
 * What has to change on one engine.
 *
 * @param models names that the engine's `/v1/models` lists
 * @param hold   versions that it should have, newest first; those whose weights are gone are left out by the caller
 * @param spare  a version under examination, neither loaded nor unloaded here
 */
export function planEngine(models: readonly string[], hold: readonly number[], spare: number | null): EnginePlan {
  const wanted = new Set(hold.map(adapterName));
  return {
    load: hold.filter((version) => !models.includes(adapterName(version))),
    unload: models.filter((name) => {
      const version = versionOfAdapter(name);
      return version !== null && version !== spare && !wanted.has(name);
    }),
  };
}

/** A version of which it is settled whether it serves. */
export type Settled = Manifest & { readonly state: Exclude<Manifest['state'], 'committed'> };

/**
 * What the bus has to be told at a start, oldest first: what became of every version. Sent again on each start, because the trainer
 * may have died before the message was stored; the ledger takes each once.
 */
export function announcements(manifests: readonly Manifest[]): Settled[] {
  return manifests
    .filter((manifest): manifest is Settled => manifest.state !== 'committed')
    .sort((a, b) => a.version - b.version);
}

/** Message id of a version's announcement. */
export const announcementId = ({ version, state }: Pick<Manifest, 'version' | 'state'>): string =>
  `policy.${version}.${state}`;
