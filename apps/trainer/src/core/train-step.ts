import type { SignalWeights } from '@hindcast/advantage';
import type { AdamState } from './adam';
import { mixedSeed } from './dropout-keys';
import type { Hyperparameters } from './hyperparameters';
import { scheduleFactor } from './learning-rate';
import { optimise, type Optimisation } from './optimisation';
import type { PolicyModel } from './policy-model';
import { learningRateOf, progressAfter, type Progress } from './progress';
import { chooseWeights } from './signal-weights';
import { stepMetrics } from './step-metrics';
import { advantageOptionsOf, batchAdvantages, measureBatch, responseNumbers, unmeasurable } from './step-numbers';
import type { TrainingSample } from './training-sample';
import type { TrainedWeights } from './tuning';

/** What a step starts from and what it leaves: weights, optimizer, and what is counted across steps. */
export interface TrainingState {
  readonly weights: TrainedWeights;
  readonly optimizer: AdamState;
  readonly progress: Progress;
  /** Somebody else reads the weights too: no later step may write over them. */
  readonly isShared?: boolean;
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
 * One PPO update of the combined method (design.md section 4): log-probs → advantages → loss → gradients → clip → AdamW, in as many
 * epochs over the batch as the hyperparameters say. The moments of the state that it was given are used up, also by a step that is refused
 * in the end. Its weights are not changed; after a step that was not refused the next one may write over them, unless they are shared.
 *
 * @param servedVersion version that serves now, for the staleness of the samples
 */
export async function trainStep(
  model: PolicyModel,
  samples: readonly TrainingSample[],
  state: TrainingState,
  hyper: Hyperparameters,
  servedVersion: number,
): Promise<StepResult> {
  const { weights: before, progress } = state;
  const measured = await measureBatch(model, samples, before, hyper);
  const strange = unmeasurable(measured);
  if (strange.length > 0) return { ok: false, culprits: strange };

  const options = advantageOptionsOf(hyper, samples, progress);
  const { weights, signalRatio } = await chooseWeights(hyper, progress, measured, options, (only) =>
    model.gradients(samples, responseNumbers(measured, batchAdvantages(measured, only, options), hyper), before, {
      regularised: false,
    }),
  );
  const advantages = batchAdvantages(measured, weights, options);
  const learningRate =
    learningRateOf(progress, hyper.learningRate, hyper.successFactor) * scheduleFactor(progress.steps, hyper.schedule);
  const seed = mixedSeed(hyper.seed, progress.steps);
  const run = await optimise(model, measured, advantages, hyper, learningRate, state, seed);
  if (!run.ok) return run;

  const [first] = run.epochs;
  const metrics = {
    ...stepMetrics({
      samples,
      batch: first!,
      advantages,
      oldLogProbs: measured.oldLogProbs,
      weights,
      advantageOptions: options,
      hyper,
      learningRate,
      gradNorm: first!.gradNorm,
      servedVersion,
    }),
    ...epochMetrics(run, hyper),
  };
  if (!Object.values(metrics).every(Number.isFinite)) return { ok: false, culprits: samples };
  const rewards = samples.map((sample) => sample.reward);
  const after = progressAfter(progress, rewards, signalRatio, first!.scalars['entropy'] ?? null);
  return {
    ok: true,
    state: { weights: run.weights, optimizer: run.optimizer, progress: after },
    metrics,
    advantages,
    oldLogProbs: measured.oldLogProbs,
    weights,
  };
}

/**
 * What the epochs did. Loss and gradient norm of a step are those of its first epoch, `approx_kl` and `clip_fraction` those of its last:
 * how far it went. With several epochs each has its own beside them.
 */
function epochMetrics(
  { epochs, updates, stoppedEarly }: Extract<Optimisation, { ok: true }>,
  { loss, epochs: planned }: Hyperparameters,
): Record<string, number> {
  const last = epochs.at(-1)!.scalars;
  const topKLoss = epochs[0]!.scalars['topKLoss'];
  return {
    approx_kl: last['approxKl']!,
    clip_fraction: last['clipFraction']!,
    updates,
    ...(topKLoss !== undefined && { 'loss/top_k': loss.topKCoef * topKLoss }),
    ...(planned > 1 && { epochs: epochs.length, stopped_early: Number(stoppedEarly) }),
    ...(planned > 1 &&
      Object.fromEntries(
        epochs.flatMap(({ scalars }, i) => [
          [`epoch_${i + 1}/approx_kl`, scalars['approxKl']!],
          [`epoch_${i + 1}/clip_fraction`, scalars['clipFraction']!],
        ]),
      )),
  };
}
