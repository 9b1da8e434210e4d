/** How a new version is tried on a share of the sessions before it serves them all. */
export interface CanaryRule {
  /** Share of the sessions, [0, 1); 0: no trial. */
  readonly share: number;
  /** Scored turns that each of the two versions needs. */
  readonly minTurns: number;
  /** Largest fall of the mean eval score that is let pass; scores lie in [−1, 1]. */
  readonly maxDrop: number;
  /** After that the trial is decided with the turns that there are, milliseconds. */
  readonly maxWaitMs: number;
}

/** A judged turn, of any version, dropped by the gate or not. */
export interface JudgedTurn {
  readonly turnId: string;
  readonly policyVersion: number;
  /** −1, 0 or +1. */
  readonly evalScore: number;
  /** Somebody scored it; a turn on which every vote abstained says nothing of its version. */
  readonly isScored: boolean;
}

/** Scored turns of a version and the mean of their scores; `null` without any. */
export interface VersionScore {
  readonly turns: number;
  readonly mean: number | null;
}

export type CanaryVerdict =
  | { readonly kind: 'wait' }
  | { readonly kind: 'promote'; readonly reason: string }
  | { readonly kind: 'roll-back'; readonly reason: string };

/** Scores of one version. A turn that was judged twice counts once, by its first judgement. */
export function versionScore(turns: Iterable<JudgedTurn>, version: number): VersionScore {
  const scores = new Map<string, number>();
  for (const { turnId, policyVersion, evalScore, isScored } of turns) {
    if (policyVersion === version && isScored && !scores.has(turnId)) scores.set(turnId, evalScore);
  }
  const sum = [...scores.values()].reduce((total, score) => total + score, 0);
  return { turns: scores.size, mean: scores.size === 0 ? null : sum / scores.size };
}

/**
 * What becomes of a version on trial.
 *
 *   both have minTurns   mean falls by more than maxDrop   → roll back, else promote
 *   time is not over                                       → wait
 *   time is over         both have turns                   → as above, with the turns there are
 *                        one has none                      → promote: nothing speaks against it
 */
export function canaryVerdict(
  stable: VersionScore,
  canary: VersionScore,
  waitedMs: number,
  { minTurns, maxDrop, maxWaitMs }: CanaryRule,
): CanaryVerdict {
  const hasEnough = stable.turns >= minTurns && canary.turns >= minTurns;
  if (!hasEnough && waitedMs < maxWaitMs) return { kind: 'wait' };
  if (stable.mean === null || canary.mean === null) {
    return { kind: 'promote', reason: `canary: ${canary.turns} and ${stable.turns} scored turns, nothing to compare` };
  }
  const reason =
    `canary: mean eval score ${signed(canary.mean)} over ${canary.turns} turns, ` +
    `${signed(stable.mean)} over ${stable.turns} of the version that serves; the bound is ${maxDrop}`;
  return { kind: stable.mean - canary.mean > maxDrop ? 'roll-back' : 'promote', reason };
}

const signed = (score: number): string => `${score < 0 ? '−' : '+'}${Math.abs(score).toFixed(3)}`;
