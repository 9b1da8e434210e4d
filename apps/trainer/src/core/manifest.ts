import { PolicyVersion, StepMetrics, Timestamp, TurnId } from '@hindcast/contracts';
import { z } from 'zod';
import { Progress } from './progress';

/** Relative, and not out of the folder: what is named here is deleted with the weights. */
const PathInside = z
  .string()
  .refine((path) => !path.startsWith('/') && !/[\\:]/.test(path) && !path.split('/').includes('..'), {
    message: 'leads out of the folder',
  });

/**
 * The record of one version, in its folder beside its weights; it outlives them. That a turn id stands in a manifest is what
 * makes it trained: at most one manifest ever names it.
 *
 * `committed` (written with the weights) → `published` (it serves, or did) or `refused`; either may become `rolled-back` when an earlier
 * version is put back into service, and then never serves again. Its turns count as trained in every state.
 */
export const Manifest = z.strictObject({
  v: z.literal(1),
  version: PolicyVersion.min(1),
  /** Version whose weights and optimizer the step started from. */
  parent: PolicyVersion,
  state: z.enum(['committed', 'published', 'refused', 'rolled-back']),
  reason: z.string().max(1000).nullable(),
  at: Timestamp,
  /** In the order of the stream. */
  turnIds: z.array(TurnId).min(1),
  hyperparameters: z.record(z.string(), z.unknown()),
  metrics: StepMetrics,
  progress: Progress,
  /** SHA-256 of each file of the folder as it was committed, hex, by its path in the folder. */
  checksums: z.record(PathInside, z.string().regex(/^[0-9a-f]{64}$/)),
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
  return newest(
    manifests.filter(({ state }) => state === 'published'),
    0,
  );
}

/** Version that waits for its publication after a crash, oldest first; a step only starts when there is none. */
export function unpublished(manifests: readonly Manifest[]): Manifest[] {
  return manifests.filter(({ state }) => state === 'committed').sort((a, b) => a.version - b.version);
}

/** Number of the next version: above every one that was ever written here, or announced from elsewhere. */
export function nextVersion(manifests: readonly Manifest[], above: number): number {
  return newest(manifests, above) + 1;
}

/** Versions that can be put back into service, newest first: those that served before the one that does. The base model always can. */
export function earlierVersions(manifests: readonly Manifest[]): number[] {
  const serving = publishedVersion(manifests);
  return publishedVersions(manifests).filter((version) => version < serving);
}

/** Versions above one that is put back into service, newest first, which then no longer serve. */
export function versionsToRollBack(manifests: readonly Manifest[], target: number): number[] {
  return manifests
    .filter(({ version, state }) => version > target && (state === 'published' || state === 'committed'))
    .map(({ version }) => version)
    .sort(descending);
}

/**
 * Versions whose weights may go, newest first: all but the newest `keep`, the version that serves with the `keep` − 1 before it, to which
 * one may go back, and what awaits its publication.
 */
export function deletableVersions(manifests: readonly Manifest[], keep: number): number[] {
  const all = manifests.map(({ version }) => version).sort(descending);
  const kept = new Set([...all.slice(0, keep), ...publishedVersions(manifests).slice(0, keep)]);
  for (const { version } of unpublished(manifests)) kept.add(version);
  return all.filter((version) => !kept.has(version));
}

function publishedVersions(manifests: readonly Manifest[]): number[] {
  return manifests
    .filter(({ state }) => state === 'published')
    .map(({ version }) => version)
    .sort(descending);
}

const descending = (a: number, b: number): number => b - a;

// Not Math.max of all: a call takes only so many arguments.
function newest(manifests: readonly Manifest[], atLeast: number): number {
  return manifests.reduce((highest, { version }) => Math.max(highest, version), atLeast);
}
