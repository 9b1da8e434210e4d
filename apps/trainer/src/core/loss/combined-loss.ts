import * as tf from '@tensorflow/tfjs';
import { clippedSurrogate, logRatioOf, type ClipSettings } from './clipped-surrogate';
import { approximateKl, type KlType } from './kl';
import { weightedRowSum } from './reduction';
import { topKDistillationLoss } from './top-k-distillation';

export interface LossSettings {
  readonly clip: ClipSettings;
  readonly klType: KlType;
  /** c_KL. */
  readonly klCoef: number;
  /** c_H. */
  readonly entropyCoef: number;
  /** c_K: weight of the top-K distillation loss. */
  readonly topKCoef: number;
  /** The KL to the base model is a number of the step even where c_KL is 0. */
  readonly measuresKl: boolean;
  /** The entropy is a number of the step even where c_H is 0. */
  readonly measuresEntropy: boolean;
}

/** The teacher's K most likely ids, where a sample has them. */
export interface TopKInputs {
  /** log π_θ at those ids, `[B, T, K]` float32, nats; carries a gradient. */
  readonly logProbs: tf.Tensor3D;
  /** log π_T of the same ids, `[B, T, K]` float32, nats, all finite. */
  readonly teacherLogProbs: tf.Tensor3D;
  /** w of the samples that have them, 0 for the others, `[B, T]` float32. */
  readonly weights: tf.Tensor2D;
}

/** All `[B, T]` float32; what the settings do not need is `null`. */
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
  readonly topK: TopKInputs | null;
}

/** Each `[B]`: the weighted sum over the tokens of a sample. Their sums are the numbers of the batch. */
export interface LossRows {
  readonly loss: tf.Tensor1D;
  readonly policyLoss: tf.Tensor1D;
  readonly clipFraction: tf.Tensor1D;
  /** log π_old − log π_θ: the k1 estimate of KL(π_old ‖ π_θ), nats, of either sign. */
  readonly approxKl: tf.Tensor1D;
  /** ρ − 1 − log ρ: its k3 estimate, nats, never negative. */
  readonly approxKl3: tf.Tensor1D;
  readonly klRef?: tf.Tensor1D;
  readonly entropy?: tf.Tensor1D;
  readonly topKLoss?: tf.Tensor1D;
}

export interface CombinedLoss {
  /** Σ of `rows.loss`, to be differentiated. */
  readonly loss: tf.Scalar;
  readonly rows: LossRows;
}

export const needsReference = ({ klCoef, measuresKl }: LossSettings): boolean => klCoef !== 0 || measuresKl;
export const needsEntropy = ({ entropyCoef, measuresEntropy }: LossSettings): boolean =>
  entropyCoef !== 0 || measuresEntropy;

/**
 * The loss of the combined method: one advantage, one clip, then the regularisers.
 *
 *   L = Σᵢₜ wᵢₜ (Lₜ + c_KL KLₜ − c_H Hₜ + c_K L^topK_t)        w: per-sample masked mean, then mean over samples
 *
 * OpenClaw-RL's combined loss (design.md section 4). The reference sums over samples and divides by the configured batch
 * size; here w divides by the samples that are really there. The reference has the top-K loss instead of the others; here it is one
 * more term. A term whose coefficient is 0 is measured at most, and adds nothing.
 */
export function combinedLoss(inputs: LossInputs, settings: LossSettings): CombinedLoss {
  const { logProbs, oldLogProbs, advantages, weights, refLogProbs, entropy, topK } = inputs;
  const { klCoef, entropyCoef, topKCoef, clip } = settings;
  const surrogate = clippedSurrogate(logProbs, oldLogProbs, advantages, clip);
  const kl = refLogProbs && approximateKl(logProbs, refLogProbs, settings.klType, clip.logRatioLimit);
  const distillation = topK && topKDistillationLoss(topK.logProbs, topK.teacherLogProbs);

  let tokenLoss = surrogate.loss;
  if (kl && klCoef !== 0) tokenLoss = tf.add(tokenLoss, tf.mul(kl, klCoef));
  if (entropy && entropyCoef !== 0) tokenLoss = tf.sub(tokenLoss, tf.mul(entropy, entropyCoef));

  const topKLoss = topK && distillation && weightedRowSum(distillation, topK.weights);
  const others = weightedRowSum(tokenLoss, weights);
  const loss = topKLoss ? tf.add<tf.Tensor1D>(others, tf.mul(topKLoss, topKCoef)) : others;
  const logRatio = logRatioOf(logProbs, oldLogProbs, clip);
  const rows: LossRows = {
    loss,
    policyLoss: weightedRowSum(surrogate.loss, weights),
    clipFraction: weightedRowSum(surrogate.clipped, weights),
    approxKl: weightedRowSum(tf.neg(logRatio), weights),
    approxKl3: weightedRowSum(tf.sub(tf.expm1(logRatio), logRatio), weights),
    ...(kl && { klRef: weightedRowSum(kl, weights) }),
    ...(entropy && { entropy: weightedRowSum(entropy, weights) }),
    ...(topKLoss && { topKLoss }),
  };
  return { loss: tf.sum(loss), rows };
}
