/** How the outcome of a session and the scores of its steps become one reward per turn. */
export type RewardMode = 'outcome-plus-mean' | 'outcome-plus-step';

export interface SessionRewardRule {
  readonly mode: RewardMode;
  /** c: weight of the step scores against the outcome, dimensionless; the original uses 1. */
  readonly coefficient: number;
  /** γ in (0, 1]: what a step's distance from the end takes off the outcome; 1 takes nothing. Only `outcome-plus-step` reads it. */
  readonly discount: number;
  /** Standardise the step scores within the session first. Only `outcome-plus-step` reads it: the mean of them would always be 0. */
  readonly standardise: boolean;
}

/** Score of a turn within its session; `null` when nobody scored it. */
export type StepScore = number | null;

/**
 * Reward of each turn of a session, in the order of its turns, from the session's outcome and the scores of its steps.
 *
 * @param outcome what the environment says of the whole session, in [−1, 1]
 * @param steps score of each turn, oldest first
 * @returns one reward per turn; with step scores it may leave [−1, 1]
 * @throws RangeError when the outcome, a score or the rule is out of its range
 */
export function sessionRewards(outcome: number, steps: readonly StepScore[], rule: SessionRewardRule): number[] {
  if (!(outcome >= -1 && outcome <= 1)) throw new RangeError(`the outcome is ${outcome}, not in [−1, 1]`);
  if (!Number.isFinite(rule.coefficient)) throw new RangeError(`the coefficient is ${rule.coefficient}`);
  if (!(rule.discount > 0 && rule.discount <= 1))
    throw new RangeError(`the discount is ${rule.discount}, not in (0, 1]`);
  steps.forEach((score, i) => {
    if (score !== null && !Number.isFinite(score)) throw new RangeError(`the score of step ${i} is ${score}`);
  });
  if (rule.mode === 'outcome-plus-mean') return outcomePlusMean(outcome, steps, rule.coefficient);
  const scores = rule.standardise ? standardised(steps) : steps;
  return outcomePlusStep(outcome, scores, rule.coefficient, rule.discount);
}

/**
 *   rₜ = o + c · mean(s)
 *
 * The same reward for every turn: what OpenClaw-RL's software and screen tasks (swe-rl, gui-rl; arXiv:2603.10165) give a sample. The
 * mean is over the steps that have a score; where none has one, r = o.
 */
export function outcomePlusMean(outcome: number, steps: readonly StepScore[], coefficient: number): number[] {
  const scores = steps.filter((score) => score !== null);
  const reward = scores.length === 0 ? outcome : outcome + coefficient * mean(scores);
  return steps.map(() => reward);
}

/**
 *   rₜ = o · γ^(T−1−t) + c · sₜ          t = 0 … T−1
 *
 * Each turn has its own: the outcome, discounted by the steps that were still to come, and the turn's own score, as OpenClaw-RL's
 * terminal tasks (terminal-rl) have it. A step without a score gets its part of the outcome alone, and still counts as a step.
 */
export function outcomePlusStep(
  outcome: number,
  steps: readonly StepScore[],
  coefficient: number,
  discount: number,
): number[] {
  return steps.map((score, t) => {
    const discounted = outcome * discount ** (steps.length - 1 - t);
    return score === null ? discounted : discounted + coefficient * score;
  });
}

/**
 *   sₜ' = (sₜ − μ) / σ                     μ, σ over the steps that have a score; σ the population's
 *
 * Scores that are all the same say nothing about which step was better: σ = 0 gives 0 for each. The original's `step_wise` estimator
 * takes μ and σ over the repetitions of a step by different rollouts of one task; a live session has no repetitions, so they are taken
 * over its steps.
 */
export function standardised(steps: readonly StepScore[]): StepScore[] {
  const scores = steps.filter((score) => score !== null);
  if (scores.length === 0) return [...steps];
  // The mean of equal numbers may differ from them by a rounding, and so give a σ that is not 0.
  const isConstant = scores.every((score) => score === scores[0]);
  const mu = mean(scores);
  const sigma = Math.sqrt(mean(scores.map((score) => (score - mu) ** 2)));
  return steps.map((score) => (score === null ? null : isConstant || sigma === 0 ? 0 : (score - mu) / sigma));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
