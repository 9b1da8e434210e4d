import * as tf from '@tensorflow/tfjs';

export interface ClipSettings {
  /** ε_low: a gain is capped once ρ falls below 1 − ε_low. */
  readonly epsilonLow: number;
  /** ε_high: a gain is capped once ρ rises above 1 + ε_high. */
  readonly epsilonHigh: number;
  /** c > 1 of the dual clip, or `null` for none. */
  readonly dualClip: number | null;
  /** Bound on |log ρ| before exp, nats. Far outside every clip range, it only keeps exp from overflowing. */
  readonly logRatioLimit: number;
}

export interface ClippedSurrogate {
  /** Lₜ, `[B, T]` float32. */
  readonly loss: tf.Tensor2D;
  /** 1 where the clip decided the loss, else 0, `[B, T]` float32. */
  readonly clipped: tf.Tensor2D;
}

/**
 * Clipped surrogate policy loss per token, with asymmetric clipping.
 *
 *   ρₜ = exp(log π_θ(aₜ|sₜ) − log π_old(aₜ|sₜ))
 *   Lₜ = −min(ρₜ Aₜ, clip(ρₜ, 1 − ε_low, 1 + ε_high) Aₜ)
 *   Lₜ = min(Lₜ, −c Aₜ)   where Aₜ < 0, with the dual clip only
 *
 * PPO, Schulman et al. 2017, eq. 7 (arXiv:1707.06347); ε_high > ε_low is "Clip-Higher" of DAPO (arXiv:2503.14476);
 * the dual clip is Ye et al. 2020, eq. 4 (arXiv:1912.09729). Departure: log ρ is clamped to ±logRatioLimit before exp,
 * so that a log-prob gap of hundreds of nats gives a finite loss and gradient; a NaN stays a NaN.
 *
 * @param logProbs    log π_θ,   `[B, T]` float32, nats; the only argument that carries a gradient
 * @param oldLogProbs log π_old, `[B, T]` float32, nats
 * @param advantages  A,         `[B, T]` float32, dimensionless
 * @throws Error when the shapes differ
 */
export function clippedSurrogate(
  logProbs: tf.Tensor2D,
  oldLogProbs: tf.Tensor2D,
  advantages: tf.Tensor2D,
  clip: ClipSettings,
): ClippedSurrogate {
  tf.util.assertShapesMatch(logProbs.shape, oldLogProbs.shape, 'clippedSurrogate, log π_θ and log π_old: ');
  tf.util.assertShapesMatch(logProbs.shape, advantages.shape, 'clippedSurrogate, log π_θ and A: ');

  const { epsilonLow, epsilonHigh, dualClip } = clip;
  const ratio = tf.exp(logRatioOf(logProbs, oldLogProbs, clip));
  const clippedRatio = tf.clipByValue(ratio, 1 - epsilonLow, 1 + epsilonHigh);

  const unclippedGain = tf.mul(ratio, advantages);
  const clippedGain = tf.mul(clippedRatio, advantages);
  const loss = tf.neg(tf.minimum(unclippedGain, clippedGain));
  const clipped = tf.cast(tf.less(clippedGain, unclippedGain), 'float32');
  if (dualClip === null) return { loss: loss as tf.Tensor2D, clipped: clipped as tf.Tensor2D };

  // The bound holds on the harmful side only: −c·A is positive there, and would cut gains elsewhere.
  const bound = tf.mul(advantages, -dualClip);
  const dual = tf.where(tf.less(advantages, 0), tf.minimum(loss, bound), loss);
  return { loss: dual as tf.Tensor2D, clipped: clipped as tf.Tensor2D };
}

/**
 * log ρₜ = log π_θ(aₜ|sₜ) − log π_old(aₜ|sₜ), held inside ±logRatioLimit; a NaN stays a NaN.
 *
 * @returns `[B, T]` float32, nats
 */
export function logRatioOf(
  logProbs: tf.Tensor2D,
  oldLogProbs: tf.Tensor2D,
  { logRatioLimit }: Pick<ClipSettings, 'logRatioLimit'>,
): tf.Tensor2D {
  return tf.clipByValue(tf.sub(logProbs, oldLogProbs), -logRatioLimit, logRatioLimit) as tf.Tensor2D;
}
