/**
 * Largest difference of log-probs that two scorings of the same ids may have, nats. Batched half-precision kernels differ in the second
 * decimal place; a stale cache, another adapter or shifted entries differ by far more (vllm-project/vllm#25262).
 */
export const REPEAT_TOLERANCE_NATS = 0.5;

/** max |aₜ − bₜ|, nats. */
export function largestGap(first: ArrayLike<number>, second: ArrayLike<number>): number {
  let gap = 0;
  for (let t = 0; t < first.length; t++) gap = Math.max(gap, Math.abs(first[t]! - second[t]!));
  return gap;
}
