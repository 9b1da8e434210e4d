import { adapterName, versionOfAdapter } from './manifest';

/** Label of weights that nobody can vouch for: an update of them failed halfway, or has not ended. */
export const UNKNOWN_WEIGHTS = 'hindcast-unknown';

/**
 * What an engine's only weights are labelled with. Each update gets a label of its own, so that an answer that began before two updates
 * is not taken for one that no update touched.
 *
 * @param at milliseconds since the epoch
 */
export const weightsLabel = (version: number, at: number): string => `${adapterName(version)}@${at}`;

/** Version that a label stands for; `null` for what we did not label. */
export function labelledVersion(label: string | null): number | null {
  const [name] = label?.split('@') ?? [];
  return name === undefined ? null : versionOfAdapter(name);
}

/**
 * Whether weights with this label are those of a version. Weights that nobody labelled are the ones that the engine was started with: the
 * base model's, which is enough only while the base model serves.
 */
export function isVersion(label: string | null, version: number): boolean {
  const labelled = labelledVersion(label);
  if (labelled !== null) return labelled === version;
  return version === 0 && label !== UNKNOWN_WEIGHTS;
}
