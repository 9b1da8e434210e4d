import type { SignalWeights } from '@hindcast/advantage';
import { importanceWeights, sampleAdvantages, type AdvantageOptions } from './advantages';
import type { ResponseNumbers } from './batch-tensors';
import type { Hyperparameters } from './hyperparameters';
import { needsReference } from './loss/combined-loss';
import { tokenWeights } from './loss/reduction';
import type { PolicyModel } from './policy-model';
import { rewardBaselineAfter, type Progress } from './progress';
import { sameTopK } from './top-k';
import type { TrainingSample } from './training-sample';
import type { TrainedWeights } from './tuning';

/** What is computed of the samples once, under the weights that the step starts from. */
export interface MeasuredBatch {
  readonly samples: readonly TrainingSample[];
  /** log π_old of each sample, `[R]` nats: the rollout's, or recomputed. */
  readonly oldLogProbs: readonly ArrayLike<number>[];
  /** log π_ref of each sample, `[R]` nats; `null` where the loss needs none. */
  readonly refLogProbs: readonly ArrayLike<number>[] | null;
}

export async function measureBatch(
  model: PolicyModel,
  samples: readonly TrainingSample[],
  weights: TrainedWeights,
  hyper: Pick<Hyperparameters, 'oldLogProbs' | 'loss'>,
): Promise<MeasuredBatch> {
  const rollout = samples.map((sample) => sample.rolloutLogProbs);
  return {
    samples,
    oldLogProbs: hyper.oldLogProbs === 'rollout' ? rollout : await model.responseLogProbs(samples, weights),
    refLogProbs: needsReference(hyper.loss) ? await model.responseLogProbs(samples, null) : null,
  };
}

/** Samples with a log-prob that no loss can be made of. */
export function unmeasurable({ samples, oldLogProbs, refLogProbs }: MeasuredBatch): TrainingSample[] {
  const isFinite = (values: ArrayLike<number>): boolean => Array.from(values).every(Number.isFinite);
  return samples.filter(
    ({ rolloutLogProbs, teacherLogProbs }, i) =>
      ![oldLogProbs[i]!, refLogProbs?.[i] ?? [], rolloutLogProbs, teacherLogProbs ?? []].every(isFinite),
  );
}

/** What the rewards are compared with, and how far the teacher may pull. */
export function advantageOptionsOf(
  hyper: Pick<Hyperparameters, 'opdAdvantageLimit' | 'hasRewardBaseline'>,
  samples: readonly TrainingSample[],
  progress: Progress,
): AdvantageOptions {
  const nonZero = samples.map(({ reward }) => reward).filter((reward) => reward !== 0);
  const rewardBaseline = progress.rewardBaseline ?? rewardBaselineAfter(null, nonZero) ?? 0;
  return {
    opdAdvantageLimit: hyper.opdAdvantageLimit,
    rewardBaseline: hyper.hasRewardBaseline ? rewardBaseline : 0,
  };
}

/** A of each sample's response tokens, `[R]`, before importance weights. */
export function batchAdvantages(
  { samples, oldLogProbs }: MeasuredBatch,
  weights: SignalWeights,
  options: AdvantageOptions,
): Float64Array[] {
  return samples.map((sample, i) => sampleAdvantages(sample, oldLogProbs[i]!, weights, options));
}

/** What the loss reads of each sample; the token weights are those of these samples as a whole batch. */
export function responseNumbers(
  { samples, oldLogProbs, refLogProbs }: MeasuredBatch,
  advantages: readonly Float64Array[],
  hyper: Pick<Hyperparameters, 'importanceLimit' | 'reduction' | 'loss'>,
): ResponseNumbers[] {
  const weights = tokenWeights(
    samples.map(({ responseIds }) => responseIds.map(() => 1)),
    hyper.reduction,
  );
  const topK = hyper.loss.topKCoef === 0 ? [] : sameTopK(samples.map((sample) => sample.topK ?? null));
  return samples.map(({ rolloutLogProbs }, i) => ({
    oldLogProbs: oldLogProbs[i]!,
    advantages: importanceWeighted(advantages[i]!, oldLogProbs[i]!, rolloutLogProbs, hyper.importanceLimit),
    weights: weights[i]!,
    ...(refLogProbs && { refLogProbs: refLogProbs[i]! }),
    ...(topK[i] && { topK: topK[i] }),
  }));
}

/** The same batch without all but the samples at these places. */
export function partOf(measured: MeasuredBatch, indices: readonly number[]): MeasuredBatch {
  const pick = <T>(all: readonly T[]): T[] => indices.map((i) => all[i]!);
  return {
    samples: pick(measured.samples),
    oldLogProbs: pick(measured.oldLogProbs),
    refLogProbs: measured.refLogProbs && pick(measured.refLogProbs),
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
