export interface TrainedVersion {
  readonly version: number;
  readonly parent: number;
}

/** Every version whose weights came from one of `versions` through later steps, without those themselves; ascending. */
export function descendants(steps: readonly TrainedVersion[], versions: readonly number[]): number[] {
  const tainted = new Set(versions);
  const found: number[] = [];
  // A version is made after its parent, so one pass in their order is enough.
  for (const { version, parent } of [...steps].sort((a, b) => a.version - b.version)) {
    if (!tainted.has(parent) || tainted.has(version)) continue;
    tainted.add(version);
    found.push(version);
  }
  return found;
}
