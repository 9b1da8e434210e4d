import type { SignalWeights } from '@hindcast/advantage';
import { adamStep, clipByGlobalNorm, type AdamState } from './adam';
import { importanceWeights, sampleAdvantages } from './advantages';
import type { ResponseNumbers } from './batch-tensors';
import type { Hyperparameters } from './hyperparameters';
import { tokenWeights } from './loss/reduction';
import type { PolicyModel } from './policy-model';
import { learningRateOf, progressAfter, rewardBaselineAfter, type Progress } from './progress';
import { chooseWeights } from './signal-weights';
import { stepMetrics } from './step-metrics';
import type { TrainingSample } from './training-sample';
import type { TrainedWeights } from './tuning';

/** What a step starts from and what it leaves: weights, optimizer, and what is counted across steps. */
export interface TrainingState {
  readonly weights: TrainedWeights;
  readonly optimizer: AdamState;
  readonly progress: Progress;
}

export type StepResult =
  | {
      readonly ok: true;
      readonly state: TrainingState;
      readonly metrics: Readonly<Record<string, number>>;
      /** A of each sample's response tokens, before importance weights. */
      readonly advantages: readonly Float64Array[];
      readonly oldLogProbs: readonly ArrayLike<number>[];
      readonly weights: SignalWeights;
    }
  /** The step is not finite: no weights are written, and these samples are to blame. */
  | { readonly ok: false; readonly culprits: readonly TrainingSample[] };

/**
 * One PPO update of the combined method (design.md section 4): log-probs → advantages → loss → gradients → clip → Adam.
 * Pure but for the compute backend: the state it was given is not changed.
 *
 * @param servedVersion version that serves now, for staleness and the schedule of signal weights
 */
export async function trainStep(
  model: PolicyModel,
  samples: readonly TrainingSample[],
  state: TrainingState,
  hyper: Hyperparameters,
  servedVersion: number,
): Promise<StepResult> {
  const { weights: before, progress } = state;
  const rollout = samples.map((sample) => sample.rolloutLogProbs);
  const old = hyper.oldLogProbs === 'rollout' ? rollout : await model.responseLogProbs(samples, before);
  const reference = hyper.loss.klCoef === 0 ? null : await model.responseLogProbs(samples, null);

  const rewards = samples.map((sample) => sample.reward);
  const rewardBaseline = hyper.hasRewardBaseline
    ? (progress.rewardBaseline ??
      rewardBaselineAfter(
        null,
        rewards.filter((reward) => reward !== 0),
      ) ??
      0)
    : 0;
  const options = { opdAdvantageLimit: hyper.opdAdvantageLimit, rewardBaseline };
  const tokenWeight = tokenWeights(
    samples.map(({ responseIds }) => responseIds.map(() => 1)),
    hyper.reduction,
  );
  const numbersFor = (weights: SignalWeights): { advantages: Float64Array[]; numbers: ResponseNumbers[] } => {
    const advantages = samples.map((sample, i) => sampleAdvantages(sample, old[i]!, weights, options));
    const numbers = samples.map((_, i) => ({
      oldLogProbs: old[i]!,
      advantages: importanceWeighted(advantages[i]!, old[i]!, rollout[i]!, hyper.importanceLimit),
      weights: tokenWeight[i]!,
      ...(reference && { refLogProbs: reference[i]! }),
    }));
    return { advantages, numbers };
  };

  const { weights, signalRatio } = await chooseWeights(hyper, progress, servedVersion, samples, (only) =>
    model.gradients(samples, numbersFor(only).numbers, before, false),
  );
  const { advantages, numbers } = numbersFor(weights);
  const batch = await model.gradients(samples, numbers, before);
  const { gradients, norm } = clipByGlobalNorm(batch.gradients, hyper.maxGradNorm);
  const culprits = samples.filter((_, i) => !Number.isFinite(batch.sampleLosses[i]));
  if (culprits.length > 0) return { ok: false, culprits };
  if (!Number.isFinite(norm)) return { ok: false, culprits: samples };

  const learningRate = learningRateOf(progress, hyper.learningRate, hyper.successFactor);
  const parameters = new Map([...before].map(([name, { data }]) => [name, data]));
  const updated = adamStep(parameters, gradients, state.optimizer, learningRate);
  const after = new Map(
    [...before].map(([name, tensor]) => [name, { ...tensor, data: updated.parameters.get(name)! }]),
  );
  const metrics = stepMetrics({
    samples,
    batch,
    advantages,
    oldLogProbs: old,
    weights,
    advantageOptions: options,
    hyper,
    learningRate,
    gradNorm: norm,
    servedVersion,
  });
  if (!Object.values(metrics).every(Number.isFinite)) return { ok: false, culprits: samples };
  return {
    ok: true,
    state: { weights: after, optimizer: updated.state, progress: progressAfter(progress, rewards, signalRatio) },
    metrics,
    advantages,
    oldLogProbs: old,
    weights,
  };
}

function importanceWeighted(
  advantages: Float64Array,
  old: ArrayLike<number>,
  rollout: ArrayLike<number>,
  limit: number | null,
): Float64Array {
  if (limit === null) return advantages;
  const weights = importanceWeights(old, rollout, limit);
  return advantages.map((advantage, t) => advantage * weights[t]!);
}
