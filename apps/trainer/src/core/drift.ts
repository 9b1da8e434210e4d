export interface DriftBounds {
  /** Mean nats per probe answer from which an alarm is raised, or `null` for never. */
  readonly alarmNats: number | null;
  /** Mean nats per probe answer from which the version is refused, or `null` for never. */
  readonly refuseNats: number | null;
}

export type DriftVerdict = 'within' | 'alarm' | 'refuse';

/**
 * Distance of a policy from the base model: a one-sample estimate of KL(π ‖ π_seed) per answer, over probe answers that π
 * sampled itself.
 *
 *   drift = mean over answers of Σₜ (log π(aₜ) − log π_seed(aₜ))        nats per answer
 *
 * @param policyLogProbs, seedLogProbs log-probs of the same sampled ids, one array per answer
 * @throws RangeError without answers, when lengths differ, or when the result is not finite
 */
export function driftNats(
  policyLogProbs: readonly ArrayLike<number>[],
  seedLogProbs: readonly ArrayLike<number>[],
): number {
  if (policyLogProbs.length === 0 || policyLogProbs.length !== seedLogProbs.length) {
    throw new RangeError(`${policyLogProbs.length} answers of the policy, ${seedLogProbs.length} of the seed`);
  }
  let total = 0;
  policyLogProbs.forEach((policy, answer) => {
    const seed = seedLogProbs[answer]!;
    if (policy.length !== seed.length)
      throw new RangeError(`answer ${answer}: ${policy.length} and ${seed.length} log-probs`);
    for (let t = 0; t < policy.length; t++) total += policy[t]! - seed[t]!;
  });
  const drift = total / policyLogProbs.length;
  if (!Number.isFinite(drift)) throw new RangeError(`drift is ${drift}`);
  return drift;
}

/** What a drift means for a version. */
export function driftVerdict(drift: number, { alarmNats, refuseNats }: DriftBounds): DriftVerdict {
  if (refuseNats !== null && drift >= refuseNats) return 'refuse';
  if (alarmNats !== null && drift >= alarmNats) return 'alarm';
  return 'within';
}
