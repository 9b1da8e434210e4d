import { float32Tensor, type HostTensor } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import { importanceWeights, sampleAdvantages } from '../core/advantages';
import type { ComputeBackend, HostTensors } from '../core/compute-backend';
import { combinedLoss, type LossSettings } from '../core/loss/combined-loss';
import { tokenWeights } from '../core/loss/reduction';
import { optionsOf, type VectorCase, type VectorSample } from './loss-vectors';

/** Largest |ours − theirs|. NaN where either has one. */
export interface LossDifference {
  readonly loss: number;
  readonly gradient: number;
  /** By the reference's name; only those that the case has. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Far outside of what float32 can take the exp of: the reference has no bound. */
const LOG_RATIO_LIMIT = 80;

/** Our rows by the reference's names for their sums. */
const METRIC_ROWS = {
  loss: 'loss',
  pg_loss: 'policyLoss',
  pg_clipfrac: 'clipFraction',
  ppo_kl: 'approxKl',
  kl_loss: 'klRef',
  entropy_loss: 'entropy',
} as const;

/**
 * One case through the trainer's own loss: advantages, importance weights, token weights, combined loss and its derivative, in float32
 * on the backend. As the file has them, losses are sums over samples of per-sample means, not divided by the samples; they are
 * added in float64.
 */
export async function compareCase(backend: ComputeBackend, vector: VectorCase): Promise<LossDifference> {
  const { cfg, samples } = vector;
  const options = optionsOf(cfg);
  const settings: LossSettings = {
    clip: {
      epsilonLow: options.epsilonLow,
      epsilonHigh: options.epsilonHigh,
      dualClip: options.dualClip,
      logRatioLimit: LOG_RATIO_LIMIT,
    },
    klType: options.klType,
    klCoef: options.klCoef,
    entropyCoef: options.entropyCoef,
    topKCoef: 0,
    measuresKl: true,
    measuresEntropy: true,
  };
  const old = samples.map((sample) => sample[options.old] ?? []);
  const weights = samples.map(({ new: { length }, mask }) => {
    const counts = mask ?? Array.from({ length }, () => 1);
    return options.isPerToken ? counts : tokenWeights([counts], 'sample-mean')[0]!;
  });
  const advantages = samples.map((sample, i) =>
    advantagesOf(sample, old[i]!, { rl: cfg.w_rl, opd: cfg.w_opd }, options),
  );
  const optional = (name: 'ref' | 'entropy'): boolean => samples.every((sample) => sample[name]);
  const inputs: HostTensors = {
    logProbs: rows(samples.map((sample) => sample.new)),
    oldLogProbs: rows(old),
    advantages: rows(advantages),
    weights: rows(weights),
    ...(optional('ref') && { refLogProbs: rows(samples.map((sample) => sample.ref!)) }),
    ...(optional('entropy') && { entropy: rows(samples.map((sample) => sample.entropy!)) }),
  };
  const outputs = await backend.compile('loss', lossFunction(settings), {})(inputs);
  const sum = (name: string): number => (outputs[name]!.data as Float32Array).reduce((total, x) => total + x, 0);
  const ours: Record<string, number> = Object.fromEntries(
    Object.entries(METRIC_ROWS).flatMap(([name, row]) => (outputs[row] ? [[name, sum(row)]] : [])),
  );
  if (samples.every(({ rollout }) => rollout)) ours['train_rollout_logprob_abs_diff'] = mismatch(samples, old, weights);
  const [, length] = outputs['gradient']!.shape;
  return {
    loss: Math.abs(ours['loss']! - vector.loss_sum_over_samples),
    gradient: largest(
      vector.grad_wrt_new.flatMap((row, i) =>
        row.map((theirs, t) => Math.abs(outputs['gradient']!.data[i * length! + t]! - theirs)),
      ),
    ),
    metrics: Object.fromEntries(
      Object.entries(vector.metrics).flatMap(([name, theirs]) =>
        typeof theirs === 'number' && ours[name] !== undefined ? [[name, Math.abs(ours[name] - theirs)]] : [],
      ),
    ),
  };
}

/** The largest of each difference. */
export function worstOf(differences: readonly LossDifference[]): LossDifference {
  const names = new Set(differences.flatMap(({ metrics }) => Object.keys(metrics)));
  return {
    loss: largest(differences.map(({ loss }) => loss)),
    gradient: largest(differences.map(({ gradient }) => gradient)),
    metrics: Object.fromEntries(
      [...names].map((name) => [name, largest(differences.flatMap(({ metrics }) => metrics[name] ?? []))]),
    ),
  };
}

function lossFunction(settings: LossSettings) {
  return (inputs: Readonly<Record<string, tf.Tensor>>): Record<string, tf.Tensor> => {
    const outputs: Record<string, tf.Tensor> = {};
    const input = (name: string): tf.Tensor2D | null => (inputs[name] as tf.Tensor2D | undefined) ?? null;
    const lossOf = (logProbs: tf.Tensor): tf.Scalar => {
      const { loss, rows: parts } = combinedLoss(
        {
          logProbs: logProbs as tf.Tensor2D,
          oldLogProbs: input('oldLogProbs')!,
          advantages: input('advantages')!,
          weights: input('weights')!,
          refLogProbs: input('refLogProbs'),
          entropy: input('entropy'),
          topK: null,
        },
        settings,
      );
      for (const [name, row] of Object.entries(parts)) outputs[name] = tf.keep((row as tf.Tensor).clone());
      return loss;
    };
    outputs['gradient'] = tf.grad(lossOf)(inputs['logProbs']!);
    return outputs;
  };
}

function advantagesOf(
  sample: VectorSample,
  old: readonly number[],
  weights: { readonly rl: number; readonly opd: number },
  { importanceLimit, opdAdvantageLimit }: ReturnType<typeof optionsOf>,
): ArrayLike<number> {
  const signals = {
    reward: sample.reward ?? 0,
    rolloutLogProbs: Float32Array.from(old),
    teacherLogProbs: sample.teacher ? Float32Array.from(sample.teacher) : null,
  };
  const advantages = sampleAdvantages(signals, old, weights, { opdAdvantageLimit, rewardBaseline: 0 });
  if (importanceLimit === null) return advantages;
  const importance = importanceWeights(old, sample.rollout!, importanceLimit);
  return advantages.map((advantage, t) => advantage * importance[t]!);
}

/** Σ over samples of the mean |log π_old − log π_rollout|. */
function mismatch(
  samples: readonly VectorSample[],
  old: readonly (readonly number[])[],
  weights: readonly ArrayLike<number>[],
): number {
  return samples.reduce(
    (total, { rollout }, i) =>
      total + rollout!.reduce((sum, logProb, t) => sum + weights[i]![t]! * Math.abs(old[i]![t]! - logProb), 0),
    0,
  );
}

/** `[B, T]`, padded with zeros. */
function rows(values: readonly ArrayLike<number>[]): HostTensor {
  const length = Math.max(1, ...values.map((row) => row.length));
  const data = new Float32Array(values.length * length);
  values.forEach((row, i) => data.set(row, i * length));
  return float32Tensor([values.length, length], data);
}

/** NaN where there is one. */
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
