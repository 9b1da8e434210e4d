import type { CurrentPolicy, VersionRow } from '@hindcast/contracts';

export type VersionRole = 'serving' | 'on-trial';

export interface TimelineEntry {
  readonly row: VersionRow;
  readonly role: VersionRole | null;
  /** Share of the sessions that it answers; `null` where it answers none. */
  readonly share: number | null;
  readonly canRollBackTo: boolean;
  /** It could be a way back if the trainer had not deleted its weights. */
  readonly isDeleted: boolean;
}

/**
 * Versions by number, newest first, with what each does now. Of two rows of a version the later one of the list counts.
 *
 * @param kept versions whose weights are there; `null` where nobody has said: then the trainer refuses what it cannot do
 */
export function versionTimeline(
  rows: readonly VersionRow[],
  current: CurrentPolicy,
  kept: readonly number[] | null = null,
): TimelineEntry[] {
  const byVersion = new Map(rows.map((row) => [row.version, row]));
  return [...byVersion.values()]
    .sort((a, b) => b.version - a.version)
    .map((row) => {
      const isTrial = current.canary?.version === row.version;
      const isServing = current.version === row.version;
      const isWayBack = canRollBackTo(row, current);
      const isThere = kept === null || row.version === 0 || kept.includes(row.version);
      return {
        row,
        role: isServing ? 'serving' : isTrial ? 'on-trial' : null,
        share: isServing ? 1 - (current.canary?.share ?? 0) : isTrial ? current.canary!.share : null,
        canRollBackTo: isWayBack && isThere,
        isDeleted: isWayBack && !isThere,
      };
    });
}

/** A refused or rolled-back version never serves again, and a newer one is no way back. */
function canRollBackTo({ version, state }: VersionRow, current: CurrentPolicy): boolean {
  if (state !== 'base' && state !== 'published') return false;
  return version < current.version;
}

/** Versions that the roll-back to `version` takes out of service: those after it that serve, are on trial or were published. */
export function takenBack(timeline: readonly TimelineEntry[], version: number): number[] {
  return timeline
    .filter(({ row, role }) => row.version > version && (row.state === 'published' || role !== null))
    .map(({ row }) => row.version)
    .sort((a, b) => a - b);
}

/** `9`, `7 and 9`, `1, 2 and 3`, `1 to 9 (5 versions)` where they are many. */
export function versionsText(versions: readonly number[]): string {
  if (versions.length === 0) return 'none';
  if (versions.length === 1) return String(versions[0]);
  if (versions.length > 4) return `${versions[0]} to ${versions.at(-1)} (${versions.length} versions)`;
  return `${versions.slice(0, -1).join(', ')} and ${versions.at(-1)}`;
}

/** Below that many judged turns a mean score says little: its standard error is up to 1 / √n. */
export const FEW_TURNS = 20;
