import * as tf from '@tensorflow/tfjs';

export const KL_TYPES = ['k1', 'k2', 'k3', 'low_var_kl'] as const;
export type KlType = (typeof KL_TYPES)[number];

/** low_var_kl is k3 held inside this bound, nats. */
const LOW_VAR_LIMIT = 10;

/**
 * Estimate of KL(π_θ ‖ π_ref) per sampled token.
 *
 *   d  = log π_θ(aₜ|sₜ) − log π_ref(aₜ|sₜ)
 *   k1 = d      k2 = d²/2      k3 = exp(−d) − 1 + d      low_var_kl = clip(k3, −10, 10)
 *
 * Schulman, "Approximating KL divergence" (2020), http://joschu.net/blog/kl-approx.html. k1 may be negative; the others
 * are not. Departure: −d is clamped to ±logRatioLimit before exp, so that the estimate stays finite.
 *
 * @param logProbs    log π_θ,   `[B, T]` float32, nats; carries the gradient
 * @param refLogProbs log π_ref, `[B, T]` float32, nats
 * @returns `[B, T]` float32, nats
 * @throws Error when the shapes differ
 */
export function approximateKl(
  logProbs: tf.Tensor2D,
  refLogProbs: tf.Tensor2D,
  type: KlType,
  logRatioLimit: number,
): tf.Tensor2D {
  tf.util.assertShapesMatch(logProbs.shape, refLogProbs.shape, 'approximateKl, log π_θ and log π_ref: ');
  const gap = tf.sub(logProbs, refLogProbs);
  switch (type) {
    case 'k1':
      return gap as tf.Tensor2D;
    case 'k2':
      return tf.div(tf.square(gap), 2) as tf.Tensor2D;
    case 'k3':
      return k3(gap, logRatioLimit);
    case 'low_var_kl':
      return tf.clipByValue(k3(gap, logRatioLimit), -LOW_VAR_LIMIT, LOW_VAR_LIMIT) as tf.Tensor2D;
  }
}

function k3(gap: tf.Tensor, logRatioLimit: number): tf.Tensor2D {
  const reverse = tf.clipByValue(tf.neg(gap), -logRatioLimit, logRatioLimit);
  return tf.add(tf.sub(tf.exp(reverse), 1), gap) as tf.Tensor2D;
}
