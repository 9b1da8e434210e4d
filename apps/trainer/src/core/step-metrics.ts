import type { SignalWeights } from '@hindcast/advantage';
import { sampleAdvantages, type AdvantageOptions } from './advantages';
import type { Hyperparameters } from './hyperparameters';
import { microBatches } from './micro-batches';
import { miniBatches } from './optimisation';
import type { BatchGradients } from './policy-model';
import { spreadOf } from './signal-balance';
import { inputLength, stalenessOf, type TrainingSample } from './training-sample';

export interface StepFacts {
  readonly samples: readonly TrainingSample[];
  readonly batch: Pick<BatchGradients, 'scalars' | 'logProbs'>;
  /** A of each sample, `[R]`. */
  readonly advantages: readonly ArrayLike<number>[];
  /** log π_old of each sample as used, `[R]` nats. */
  readonly oldLogProbs: readonly ArrayLike<number>[];
  readonly weights: SignalWeights;
  readonly advantageOptions: AdvantageOptions;
  readonly hyper: Pick<Hyperparameters, 'loss' | 'tokenBudget' | 'miniBatches'>;
  readonly learningRate: number;
  /** Before clipping. */
  readonly gradNorm: number;
  readonly servedVersion: number;
}

/**
 * The numbers of one step, by the names of `STEP_METRICS`. What no sample carries and what was not computed has no entry, rather
 * than a zero; a term that the loss does not have is truly 0 in it.
 */
export function stepMetrics(facts: StepFacts): Record<string, number> {
  return { ...lossMetrics(facts), ...signalMetrics(facts), ...batchMetrics(facts) };
}

/** What only the clock knows of a step; without an entry for a rate that nobody could measure. */
export function timingMetrics(metrics: Readonly<Record<string, number>>, seconds: number): Record<string, number> {
  const tokens = metrics['tokens'];
  return {
    step_seconds: seconds,
    ...(tokens !== undefined && seconds > 0 && { tokens_per_second: tokens / seconds }),
  };
}

function lossMetrics({ batch, hyper, weights, learningRate, gradNorm }: StepFacts): Record<string, number> {
  const { loss, policyLoss, clipFraction, approxKl, klRef, entropy } = batch.scalars;
  const { klCoef, entropyCoef } = hyper.loss;
  return {
    'loss/total': loss!,
    'loss/policy': policyLoss!,
    'loss/kl': klCoef === 0 ? 0 : klCoef * klRef!,
    'loss/entropy': entropyCoef === 0 ? 0 : -entropyCoef * entropy!,
    ...(klRef !== undefined && { kl: klRef }),
    ...(entropy !== undefined && { entropy }),
    approx_kl: approxKl!,
    clip_fraction: clipFraction!,
    grad_norm: gradNorm,
    learning_rate: learningRate,
    w_rl: weights.rl,
    w_opd: weights.opd,
  };
}

function signalMetrics(facts: StepFacts): Record<string, number> {
  const { samples, batch, weights, oldLogProbs, advantageOptions } = facts;
  const advantagesUnder = (only: SignalWeights, carries: (sample: TrainingSample) => boolean): Float64Array[] =>
    samples.flatMap((sample, i) =>
      carries(sample) ? [sampleAdvantages(sample, oldLogProbs[i]!, only, advantageOptions)] : [],
    );
  const isTaught = ({ teacherLogProbs }: TrainingSample): boolean => teacherLogProbs !== null;
  const gaps = samples.flatMap(({ teacherLogProbs }, i) =>
    teacherLogProbs ? [differences(teacherLogProbs, oldLogProbs[i]!)] : [],
  );
  const mismatches = samples.flatMap(({ rolloutLogProbs }, i) =>
    differences(batch.logProbs[i]!, rolloutLogProbs).map(Math.abs),
  );
  const gap = spreadOf(gaps);
  return {
    ...spread('advantage', facts.advantages),
    ...spread(
      'advantage_rl',
      advantagesUnder({ ...weights, opd: 0 }, ({ reward }) => reward !== 0),
    ),
    ...spread('advantage_opd', advantagesUnder({ ...weights, rl: 0 }, isTaught)),
    reward_mean: mean(samples.map(({ reward }) => reward)),
    ...(gap && { teacher_student_gap_mean: gap.mean }),
    train_rollout_logprob_abs_diff_mean: mean(mismatches),
    train_rollout_logprob_abs_diff_max: largest(mismatches),
  };
}

function batchMetrics({ samples, hyper, servedVersion }: StepFacts): Record<string, number> {
  const staleness = samples.map((sample) => stalenessOf(sample, servedVersion));
  const responses = samples.map(({ responseIds }) => responseIds.length);
  const ofCase = (name: TrainingSample['case']): number => samples.filter((sample) => sample.case === name).length;
  const positions = samples.map(inputLength);
  const padded = miniBatches(samples.length, hyper.miniBatches)
    .map((indices) => indices.map((i) => positions[i]!))
    .flatMap((lengths) => microBatches(lengths, hyper.tokenBudget))
    .map(({ rows, length }) => rows * length);
  return {
    staleness_mean: mean(staleness),
    staleness_max: largest(staleness),
    samples: samples.length,
    'samples/opdRl': ofCase('opdRl'),
    'samples/opd': ofCase('opd'),
    'samples/rl': ofCase('rl'),
    tokens: sum(samples.map(({ promptIds }) => promptIds.length)) + sum(responses),
    response_tokens: sum(responses),
    response_length_mean: mean(responses),
    response_length_max: largest(responses),
    padding_share: 1 - sum(positions) / sum(padded),
  };
}

function spread(name: string, arrays: readonly ArrayLike<number>[]): Record<string, number> {
  const found = spreadOf(arrays);
  return found ? { [`${name}_mean`]: found.mean, [`${name}_std`]: found.std } : {};
}

/** a − b, element by element. */
function differences(a: ArrayLike<number>, b: ArrayLike<number>): number[] {
  return Array.from(a, (value, t) => value - b[t]!);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const mean = (values: readonly number[]): number => sum(values) / values.length;

const largest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), -Infinity);
