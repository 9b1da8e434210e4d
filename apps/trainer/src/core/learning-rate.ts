export const LR_SCHEDULES = ['constant', 'linear', 'cosine'] as const;
export type LrScheduleKind = (typeof LR_SCHEDULES)[number];

export interface LrSchedule {
  readonly kind: LrScheduleKind;
  /** Steps over which the learning rate rises from 0. */
  readonly warmupSteps: number;
  /** Step from which it is 0, for the schedules that fall; `null` for `constant`. */
  readonly totalSteps: number | null;
}

/**
 * Factor on the learning rate of the step after `steps` others.
 *
 *   warm-up:  f = (s + 1) / W                          s < W
 *   linear:   f = 1 − x        cosine:  f = (1 + cos πx) / 2        x = min(1, (s − W) / (S − W))
 *
 * The cosine is that of SGDR without restarts, Loshchilov & Hutter 2017, eq. 5 with η_min = 0 (arXiv:1608.03983). Warm-up counts the
 * step itself, so that the first one moves.
 *
 * @param steps s: steps taken before, from 0
 * @returns in [0, 1]
 */
export function scheduleFactor(steps: number, { kind, warmupSteps, totalSteps }: LrSchedule): number {
  if (steps < warmupSteps) return (steps + 1) / warmupSteps;
  if (kind === 'constant' || totalSteps === null) return 1;
  const share = Math.min(1, (steps - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
  return kind === 'linear' ? 1 - share : (1 + Math.cos(Math.PI * share)) / 2;
}
