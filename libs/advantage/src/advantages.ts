/** Weights of the two signals, dimensionless: w_rl and w_opd. */
export interface SignalWeights {
  readonly rl: number;
  readonly opd: number;
}

/**
 * OPD advantage of one turn, `[R]` nats: how much more (or less) likely the teacher, who saw the hint, finds each sampled token.
 *
 *   Aₜ = log π_T(aₜ | s, hint) − log π_old(aₜ | s)
 *
 * On-policy distillation as in OpenClaw-RL (arXiv:2603.10165). A turn without teacher log-probs has A = 0 exactly: its teacher is
 * the rollout array itself.
 *
 * @param rolloutLogProbs log π_old, `[R]`, nats
 * @param teacherLogProbs log π_T of the same ids, `[R]`, nats; `null` when the turn carries no teacher signal
 * @throws RangeError when the lengths differ or a value is not finite
 */
export function opdAdvantages(
  rolloutLogProbs: ArrayLike<number>,
  teacherLogProbs: ArrayLike<number> | null,
): Float64Array {
  const teacher = teacherLogProbs ?? rolloutLogProbs;
  if (teacher.length !== rolloutLogProbs.length) {
    throw new RangeError(`${rolloutLogProbs.length} rollout log-probs but ${teacher.length} teacher log-probs`);
  }
  return Float64Array.from({ length: teacher.length }, (_, t) => {
    const advantage = teacher[t]! - rolloutLogProbs[t]!;
    if (!Number.isFinite(advantage)) throw new RangeError(`log-prob at position ${t} is not finite`);
    return advantage;
  });
}

/**
 * Combined advantage of one turn, `[R]`: one number per token for one clipped loss.
 *
 *   Aₜ = w_rl · r + w_opd · (log π_T(aₜ) − log π_old(aₜ))
 *
 * `w.opd = 0` leaves binary RL's advantage, `w.rl = 0` leaves OPD's. Stop-gradient: the result is data.
 *
 * @param reward r: −1, 0 or 1 of a judge, any finite number of an environment; 0 for a turn without a reward
 * @throws RangeError as `opdAdvantages` does, or when the reward is not finite
 */
export function combinedAdvantages(
  reward: number,
  rolloutLogProbs: ArrayLike<number>,
  teacherLogProbs: ArrayLike<number> | null,
  weights: SignalWeights,
): Float64Array {
  if (!Number.isFinite(reward)) throw new RangeError(`the reward is ${reward}`);
  return opdAdvantages(rolloutLogProbs, teacherLogProbs).map((opd) => weights.rl * reward + weights.opd * opd);
}
