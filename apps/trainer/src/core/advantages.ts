import { combinedAdvantages, opdAdvantages, type SignalWeights } from '@hindcast/advantage';
import type { TrainingSample } from './training-sample';

type Signals = Pick<TrainingSample, 'reward' | 'rolloutLogProbs' | 'teacherLogProbs'>;

export interface AdvantageOptions {
  readonly opdAdvantageLimit: number | null;
  /** b, subtracted from the rewards that are not zero; 0 for none. */
  readonly rewardBaseline: number;
}

/**
 * Advantage of every response token of one sample, `[R]`.
 *
 *   Aₜ = w_rl (r − b) + w_opd clip(log π_T(aₜ) − log π_old(aₜ), −C, C)
 *
 * Without the options b = 0 and C = ∞: `combinedAdvantages` of libs/advantage. A sample without teacher signal has an OPD part
 * of exactly zero, whichever log-probs are old.
 */
export function sampleAdvantages(
  sample: Signals,
  oldLogProbs: ArrayLike<number>,
  weights: SignalWeights,
  { opdAdvantageLimit, rewardBaseline }: AdvantageOptions,
): Float64Array {
  const teacher = sample.teacherLogProbs && limitedTeacher(sample.teacherLogProbs, oldLogProbs, opdAdvantageLimit);
  const advantages = combinedAdvantages(sample.reward, oldLogProbs, teacher, weights);
  const shift = sample.reward === 0 ? 0 : weights.rl * rewardBaseline;
  return shift === 0 ? advantages : advantages.map((advantage) => advantage - shift);
}

/**
 * Truncated importance weights between the engine that sampled and the trainer that scores, `[R]`:
 * min(π_recomputed(aₜ) / π_rollout(aₜ), C). Multiplied into the advantages, they scale each token's loss and gradient.
 *
 * Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy training"; V-trace's ρ̄ (arXiv:1802.01561).
 */
export function importanceWeights(
  recomputedLogProbs: ArrayLike<number>,
  rolloutLogProbs: ArrayLike<number>,
  limit: number,
): Float64Array {
  return Float64Array.from(recomputedLogProbs, (recomputed, t) =>
    Math.min(Math.exp(recomputed - rolloutLogProbs[t]!), limit),
  );
}

function limitedTeacher(teacher: ArrayLike<number>, old: ArrayLike<number>, limit: number | null): ArrayLike<number> {
  if (limit === null) return teacher;
  return opdAdvantages(old, teacher).map((gap, t) => old[t]! + Math.min(limit, Math.max(-limit, gap)));
}
