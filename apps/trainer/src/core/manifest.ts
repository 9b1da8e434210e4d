import { PolicyVersion, StepMetrics, Timestamp, TurnId } from '@hindcast/contracts';
import { z } from 'zod';
import { Progress } from './progress';

/**
 * The record of one version, in its folder beside its weights; it outlives them. That a turn id stands in a manifest is what
 * makes it trained: at most one manifest ever names it.
 *
 * `committed` (written with the weights) → `published` (it serves) or `refused` (its turns count as trained all the same).
 */
export const Manifest = z.strictObject({
  v: z.literal(1),
  version: PolicyVersion.min(1),
  /** Version whose weights and optimizer the step started from. */
  parent: PolicyVersion,
  state: z.enum(['committed', 'published', 'refused']),
  reason: z.string().max(1000).nullable(),
  at: Timestamp,
  /** In the order of the stream. */
  turnIds: z.array(TurnId).min(1),
  hyperparameters: z.record(z.string(), z.unknown()),
  metrics: StepMetrics,
  progress: Progress,
  /** SHA-256 of each file of the folder as it was committed, hex, by name. */
  checksums: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
});
export type Manifest = z.infer<typeof Manifest>;

/** Name that engines know a version's adapter by; a new one for every version. */
export const adapterName = (version: number): string => `hindcast-v${String(version).padStart(6, '0')}`;

/** Version that an adapter name stands for; `null` for every other model. */
export function versionOfAdapter(name: string): number | null {
  const match = /^hindcast-v(\d{6,})$/.exec(name);
  return match ? Number(match[1]) : null;
}

/** Folder of a version inside `POLICY_DIR`. */
export const versionFolder = (version: number): string => `v${String(version).padStart(6, '0')}`;

/** Version that serves: the newest published one, 0 when there is none. */
export function publishedVersion(manifests: readonly Manifest[]): number {
  return Math.max(0, ...manifests.filter(({ state }) => state === 'published').map(({ version }) => version));
}

/** Version that waits for its publication after a crash, oldest first; a step only starts when there is none. */
export function unpublished(manifests: readonly Manifest[]): Manifest[] {
  return manifests.filter(({ state }) => state === 'committed').sort((a, b) => a.version - b.version);
}

/** Number of the next version: above every one that was ever written here, or announced from elsewhere. */
export function nextVersion(manifests: readonly Manifest[], above: number): number {
  return Math.max(above, ...manifests.map(({ version }) => version)) + 1;
}

/** Versions whose weights may go: all but the newest `keep`, the one that serves, and what awaits its publication. */
export function deletableVersions(manifests: readonly Manifest[], keep: number): number[] {
  const serving = publishedVersion(manifests);
  return manifests
    .toSorted((a, b) => b.version - a.version)
    .slice(keep)
    .filter(({ version, state }) => version !== serving && state !== 'committed')
    .map(({ version }) => version);
}
