import { opdAdvantages, type SignalWeights } from '@hindcast/advantage';
import type { BatchGradients } from './policy-model';
import { spreadOf } from './signal-balance';
import { stalenessOf, type TrainingSample } from './training-sample';

export interface StepFacts {
  readonly samples: readonly TrainingSample[];
  readonly batch: BatchGradients;
  readonly advantages: readonly Float64Array[];
  readonly weights: SignalWeights;
  readonly learningRate: number;
  readonly gradNorm: number;
  readonly servedVersion: number;
}

/** The numbers of one step, under the field's names. A signal that no sample carries has no entry, rather than a zero. */
export function stepMetrics(facts: StepFacts): Record<string, number> {
  const { samples, batch, weights } = facts;
  const { scalars } = batch;
  const staleness = samples.map((sample) => stalenessOf(sample, facts.servedVersion));
  const rewarded = samples.filter(({ reward }) => reward !== 0);
  const taught = samples.filter(({ teacherLogProbs }) => teacherLogProbs !== null);
  const rewardTokens = rewarded.map(({ reward, responseIds }) => Array.from(responseIds, () => weights.rl * reward));
  const teacherGaps = taught.map((sample) =>
    opdAdvantages(sample.rolloutLogProbs, sample.teacherLogProbs).map((gap) => weights.opd * gap),
  );
  const mismatch = samples.flatMap(({ rolloutLogProbs }, i) =>
    Array.from(rolloutLogProbs, (logProb, t) => Math.abs(batch.logProbs[i]![t]! - logProb)),
  );
  return {
    loss: scalars['loss']!,
    'loss/policy': scalars['policyLoss']!,
    clip_fraction: scalars['clipFraction']!,
    approx_kl: scalars['approxKl']!,
    ...(scalars['klRef'] !== undefined && { kl_ref: scalars['klRef'] }),
    ...(scalars['entropy'] !== undefined && { entropy: scalars['entropy'] }),
    grad_norm: facts.gradNorm,
    learning_rate: facts.learningRate,
    w_rl: weights.rl,
    w_opd: weights.opd,
    samples: samples.length,
    tokens: samples.reduce((sum, { promptIds, responseIds }) => sum + promptIds.length + responseIds.length, 0),
    response_tokens: samples.reduce((sum, { responseIds }) => sum + responseIds.length, 0),
    reward_mean: samples.reduce((sum, { reward }) => sum + reward, 0) / samples.length,
    staleness_mean: staleness.reduce((sum, lag) => sum + lag, 0) / staleness.length,
    staleness_max: Math.max(...staleness),
    rollout_log_prob_abs_diff: mismatch.reduce((sum, gap) => sum + gap, 0) / mismatch.length,
    ...spread('advantage', facts.advantages),
    ...spread('advantage_rl', rewardTokens),
    ...spread('advantage_opd', teacherGaps),
  };
}

function spread(name: string, arrays: readonly ArrayLike<number>[]): Record<string, number> {
  const found = spreadOf(arrays);
  return found ? { [`${name}_mean`]: found.mean, [`${name}_std`]: found.std } : {};
}
