import { z } from 'zod';

const WINDOW = 10;
const SUCCESSES = 8;
/** Share of the past in the running mean of rewards. */
const BASELINE_DECAY = 0.8;

/** What a step hands on to the next one beside weights and optimizer; kept in the manifest, so that it survives restarts. */
export const Progress = z.strictObject({
  /** Steps taken, whatever became of their versions: schedules count by it, and what a step draws at random follows from it. */
  steps: z.int().nonnegative().default(0),
  /** Last non-zero rewards trained on, oldest first, at most ten. */
  recentRewards: z.array(z.number()).max(WINDOW),
  /** Eight of ten have been +1 once; it stays so. */
  hasSucceeded: z.boolean(),
  /** w_opd / w_rl of the last step of an adaptive balance. */
  signalRatio: z.number().positive(),
  /** Running mean of the non-zero rewards; `null` before the first. */
  rewardBaseline: z.number().nullable(),
  /** Mean entropy per token of the first step that measured it, nats; `null` before. */
  entropyBaseline: z.number().nullable().default(null),
});
export type Progress = z.infer<typeof Progress>;

export const INITIAL_PROGRESS: Progress = {
  steps: 0,
  recentRewards: [],
  hasSucceeded: false,
  signalRatio: 1,
  rewardBaseline: null,
  entropyBaseline: null,
};

/**
 * The progress after a step on samples with these rewards, in the order of the batch.
 *
 * @param entropy mean entropy per token, nats, where the step measured it
 */
export function progressAfter(
  before: Progress,
  rewards: readonly number[],
  signalRatio: number,
  entropy: number | null = null,
): Progress {
  const nonZero = rewards.filter((reward) => reward !== 0);
  const recentRewards = [...before.recentRewards, ...nonZero].slice(-WINDOW);
  return {
    steps: before.steps + 1,
    recentRewards,
    hasSucceeded: before.hasSucceeded || hasEightOfTen([...before.recentRewards, ...nonZero]),
    signalRatio,
    rewardBaseline: rewardBaselineAfter(before.rewardBaseline, nonZero),
    entropyBaseline: before.entropyBaseline ?? entropy,
  };
}

/** Learning rate of a step that starts from this progress. */
export function learningRateOf(progress: Progress, learningRate: number, successFactor: number): number {
  return progress.hasSucceeded ? learningRate * successFactor : learningRate;
}

/** Running mean of rewards, with which a step's own rewards are compared (`hasRewardBaseline`). */
export function rewardBaselineAfter(before: number | null, nonZero: readonly number[]): number | null {
  if (nonZero.length === 0) return before;
  const mean = nonZero.reduce((sum, reward) => sum + reward, 0) / nonZero.length;
  return before === null ? mean : BASELINE_DECAY * before + (1 - BASELINE_DECAY) * mean;
}

function hasEightOfTen(rewards: readonly number[]): boolean {
  for (let last = WINDOW; last <= rewards.length; last++) {
    const successes = rewards.slice(last - WINDOW, last).filter((reward) => reward === 1).length;
    if (successes >= SUCCESSES) return true;
  }
  return false;
}
