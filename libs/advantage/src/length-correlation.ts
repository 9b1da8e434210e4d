/** Length and reward of one answer. */
export interface LengthSample {
  readonly responseTokens: number;
  readonly reward: number;
}

export interface LengthCorrelation {
  /** Pearson's r in [−1, 1]; `null` below the smallest n, and where all lengths or all rewards are the same. */
  readonly r: number | null;
  readonly n: number;
}

/** Fewest samples that give a correlation: below, a strong r is common by chance (p < 0.05 needs |r| > 0.36 at n = 30). */
export const MIN_CORRELATION_SAMPLES = 30;

/**
 * Whether longer answers are rewarded more: a judge that likes length teaches length.
 *
 *   r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²)        x: tokens of the response, y: reward
 *
 * @throws RangeError when a length or reward is not finite
 */
export function lengthRewardCorrelation(
  samples: readonly LengthSample[],
  minimum: number = MIN_CORRELATION_SAMPLES,
): LengthCorrelation {
  const n = samples.length;
  const lengths = samples.map((sample) => finite(sample.responseTokens));
  const rewards = samples.map((sample) => finite(sample.reward));
  if (n < Math.max(minimum, 2) || isConstant(lengths) || isConstant(rewards)) return { r: null, n };
  const x = centred(lengths);
  const y = centred(rewards);
  const r = dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
  return { r: Number.isFinite(r) ? Math.max(-1, Math.min(1, r)) : null, n };
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(`a length or reward is ${value}`);
  return value;
}

// The centred values of a constant may all be one rounding away from 0: equality is asked for, not a variance of 0.
const isConstant = (values: readonly number[]): boolean => values.every((value) => value === values[0]);

function centred(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
