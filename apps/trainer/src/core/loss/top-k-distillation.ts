import * as tf from '@tensorflow/tfjs';

/** Largest log of the mass on K ids, nats: the mass beside them is then at least 1e-7, and its log is finite. */
const MAX_LOG_MASS = -1e-7;

/**
 * Distillation loss per token over the teacher's K most likely ids and one bin for all others: the reverse KL of K + 1 bins.
 *
 *   tail(x) = log(1 − Σₖ exp xₖ) = log(−expm1(min(log Σₖ exp xₖ, −1e-7)))
 *   Lₜ = Σ_b p_θ(b) (log p_θ(b) − log p_T(b))        b over the K ids and the tail
 *
 * The top-K variant of OpenClaw-RL's on-policy distillation (arXiv:2603.10165). Reverse KL weighs each bin by the student, so that the
 * student gives up what the teacher finds unlikely, and need not spread over all that the teacher finds possible. The tail counts as one
 * bin: without it, mass that leaves the K ids would cost nothing. The loss is 0 where both distributions agree on the bins, and never below.
 *
 * @param logProbs        log π_θ at the teacher's K ids, `[B, T, K]` float32, nats; the only argument that carries a gradient
 * @param teacherLogProbs log π_T of the same ids,        `[B, T, K]` float32, nats, all finite
 * @returns Lₜ, `[B, T]` float32, nats
 * @throws Error when the shapes differ
 */
export function topKDistillationLoss(logProbs: tf.Tensor3D, teacherLogProbs: tf.Tensor3D): tf.Tensor2D {
  tf.util.assertShapesMatch(logProbs.shape, teacherLogProbs.shape, 'topKDistillationLoss, log π_θ and log π_T: ');
  const student = withTail(logProbs);
  const teacher = withTail(teacherLogProbs);
  return tf.sum(tf.mul(tf.exp(student), tf.sub(student, teacher)), -1);
}

/** The K log-probs and the log of the mass beside them, `[B, T, K + 1]`. */
function withTail(logProbs: tf.Tensor3D): tf.Tensor3D {
  const logMass = tf.minimum(tf.logSumExp(logProbs, -1, true), MAX_LOG_MASS);
  return tf.concat([logProbs, tf.log(tf.neg(tf.expm1(logMass))) as tf.Tensor3D], -1);
}
