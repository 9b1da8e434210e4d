import type { SignalWeights } from '@hindcast/advantage';

export const BALANCES = ['fixed', 'variance', 'gradient-norm', 'schedule'] as const;
export type Balance = (typeof BALANCES)[number];

/** w_rl and w_opd by what users give: nothing in words, then the reward carries more; or corrections, then the teacher does. */
export const BALANCE_PRESETS = {
  balanced: { rl: 1, opd: 1 },
  'implicit-feedback': { rl: 1.5, opd: 0.5 },
  'explicit-feedback': { rl: 0.5, opd: 1.5 },
} as const satisfies Record<string, SignalWeights>;
export type BalancePreset = keyof typeof BALANCE_PRESETS;
export const BALANCE_PRESET_NAMES = Object.keys(BALANCE_PRESETS) as [BalancePreset, ...BalancePreset[]];

/**
 * Weights by the number of steps taken before: OPD first, because it says which tokens were wrong; then both; then the reward.
 *
 *   w_opd / w_rl = 1.0 / 0.1 before step 100, 0.5 / 0.5 to 500, 0.1 / 1.0 after
 */
export function scheduledWeights(step: number): SignalWeights {
  if (step < 100) return { rl: 0.1, opd: 1 };
  if (step < 500) return { rl: 0.5, opd: 0.5 };
  return { rl: 1, opd: 0.1 };
}

/**
 * The ratio w_opd / w_rl that makes the two signals equally large: σ_rl / σ_opd for `variance`, ‖∇_rl‖ / ‖∇_opd‖ for
 * `gradient-norm`. Where either is zero, missing or not finite it says nothing about scale, and the previous ratio stays.
 *
 * @param rl, opd size of each signal, ≥ 0; `null` when no sample of the batch carries it
 * @param previous the ratio of the step before; 1 at first
 */
export function balancedRatio(rl: number | null, opd: number | null, previous: number): number {
  if (rl === null || opd === null) return previous;
  const ratio = rl / opd;
  return rl > 0 && Number.isFinite(ratio) && ratio > 0 ? ratio : previous;
}

export interface Spread {
  readonly mean: number;
  /** Population standard deviation. */
  readonly std: number;
}

/** Mean and standard deviation over all values of all arrays; `null` when there are none. */
export function spreadOf(arrays: readonly ArrayLike<number>[]): Spread | null {
  let count = 0;
  let total = 0;
  for (const array of arrays) {
    count += array.length;
    for (let i = 0; i < array.length; i++) total += array[i]!;
  }
  if (count === 0) return null;
  const mean = total / count;
  let squares = 0;
  for (const array of arrays) for (let i = 0; i < array.length; i++) squares += (array[i]! - mean) ** 2;
  return { mean, std: Math.sqrt(squares / count) };
}
