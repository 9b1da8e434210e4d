import * as tf from '@tensorflow/tfjs';

export const REDUCTIONS = ['sample-mean', 'token-mean'] as const;
export type Reduction = (typeof REDUCTIONS)[number];

/**
 * The weight that every response token of a batch has in the loss, one array per sample, all of them summing to 1.
 *
 *   sample-mean: wᵢₜ = mᵢₜ / (B Σₜ mᵢₜ)      each sample counts alike; B counts the samples with a token
 *   token-mean:  wᵢₜ = mᵢₜ / Σᵢₜ mᵢₜ         each token counts alike
 *
 * sample-mean is OpenClaw-RL's (slime's `sum_of_sample_mean` over the samples that are there); token-mean is DAPO's, eq. 8
 * (arXiv:2503.14476). Because the weights know the whole batch, micro-batches of it and padded rows need no correction: their losses
 * and gradients are summed. A batch without one unmasked token has weight 0 everywhere, and so loss 0.
 *
 * @param masks m, one `[R]` array per sample, 1 where the token counts, else 0
 */
export function tokenWeights(masks: readonly ArrayLike<number>[], reduction: Reduction): Float32Array[] {
  const counts = masks.map((mask) => sum(mask));
  const samples = counts.filter((count) => count > 0).length;
  const tokens = sum(counts);
  return masks.map((mask, i) => {
    const divisor = reduction === 'sample-mean' ? samples * counts[i]! : tokens;
    return Float32Array.from(mask, (m) => (m === 0 ? 0 : m / divisor));
  });
}

/**
 * Σₜ w x of each row, `[B]`. A position of weight 0 adds nothing, whatever finite number it holds; a NaN stays a NaN. Rows are not
 * added up here: float32 would round at every sample, so that the host adds them in float64.
 *
 * @param x `[B, T]` float32 · @param weights w, `[B, T]` float32, from `tokenWeights`
 * @throws Error when the shapes differ
 */
export function weightedRowSum(x: tf.Tensor2D, weights: tf.Tensor2D): tf.Tensor1D {
  tf.util.assertShapesMatch(x.shape, weights.shape, 'weighted sum, x and w: ');
  return tf.sum(tf.mul(x, weights), 1);
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}
