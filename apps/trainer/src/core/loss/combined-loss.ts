import * as tf from '@tensorflow/tfjs';
import { clippedSurrogate, type ClipSettings } from './clipped-surrogate';
import { approximateKl, type KlType } from './kl';
import { weightedRowSum, weightedSum } from './reduction';

export interface LossSettings {
  readonly clip: ClipSettings;
  readonly klType: KlType;
  /** c_KL. */
  readonly klCoef: number;
  /** c_H. */
  readonly entropyCoef: number;
}

/** All `[B, T]` float32; `refLogProbs` and `entropy` are `null` where their coefficient is 0. */
export interface LossInputs {
  /** log π_θ, nats; carries the gradient. */
  readonly logProbs: tf.Tensor2D;
  /** log π_old, nats. */
  readonly oldLogProbs: tf.Tensor2D;
  /** A = w_rl r + w_opd (log π_T − log π_old), dimensionless. */
  readonly advantages: tf.Tensor2D;
  /** w, from `tokenWeights`. */
  readonly weights: tf.Tensor2D;
  /** log π_ref, nats. */
  readonly refLogProbs: tf.Tensor2D | null;
  /** H(π_θ(·|sₜ)), nats; carries a gradient. */
  readonly entropy: tf.Tensor2D | null;
}

/** Scalars, each a weighted sum over tokens; `rowLoss` is `[B]`, the loss of each sample before summing. */
export interface CombinedLoss {
  readonly loss: tf.Scalar;
  readonly rowLoss: tf.Tensor1D;
  readonly policyLoss: tf.Scalar;
  readonly clipFraction: tf.Scalar;
  /** Mean of log π_old − log π_θ: the k1 estimate of KL(π_old ‖ π_θ), nats. */
  readonly approxKl: tf.Scalar;
  readonly klRef: tf.Scalar | null;
  readonly entropy: tf.Scalar | null;
}

/**
 * The loss of the combined method: one advantage, one clip, then the regularisers.
 *
 *   L = Σᵢₜ wᵢₜ (Lₜ + c_KL KLₜ − c_H Hₜ)        w: per-sample masked mean, then mean over samples
 *
 * OpenClaw-RL's combined loss (design.md section 4). The reference sums over samples and divides by the configured batch
 * size; here w divides by the samples that are really there.
 */
export function combinedLoss(inputs: LossInputs, settings: LossSettings): CombinedLoss {
  const { logProbs, oldLogProbs, advantages, weights, refLogProbs, entropy } = inputs;
  const surrogate = clippedSurrogate(logProbs, oldLogProbs, advantages, settings.clip);
  const kl = refLogProbs && approximateKl(logProbs, refLogProbs, settings.klType, settings.clip.logRatioLimit);

  let tokenLoss: tf.Tensor2D = surrogate.loss;
  if (kl) tokenLoss = tf.add(tokenLoss, tf.mul(kl, settings.klCoef));
  if (entropy) tokenLoss = tf.sub(tokenLoss, tf.mul(entropy, settings.entropyCoef));

  const rowLoss = weightedRowSum(tokenLoss, weights);
  return {
    loss: tf.sum(rowLoss),
    rowLoss,
    policyLoss: weightedSum(surrogate.loss, weights),
    clipFraction: weightedSum(surrogate.clipped, weights),
    approxKl: weightedSum(tf.sub(oldLogProbs, logProbs), weights),
    klRef: kl && weightedSum(kl, weights),
    entropy: entropy && weightedSum(entropy, weights),
  };
}
