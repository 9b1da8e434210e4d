// e^x = 2^−k · 2^(−i / STEPS) · e^rest: two tables, and a series that three terms of suffice for.
const STEPS = 1024;
const fractions = Float64Array.from({ length: STEPS }, (_, i) => 2 ** (-i / STEPS));
const halvings = Float64Array.from({ length: 1100 }, (_, k) => 2 ** -k);
const PER_STEP = Math.LN2 / STEPS;
const SMALLEST = -(halvings.length - 1) * Math.LN2;

/** Relative error of `expNonPositive` at most. */
export const EXP_ERROR = 1e-10;

/** e^x for x ≤ 0, some times faster than Math.exp; NaN for NaN, 0 below −761. For a positive x the result means nothing. */
export function expNonPositive(x: number): number {
  if (x < SMALLEST) return 0;
  const steps = x * (-1 / PER_STEP);
  const whole = steps | 0;
  // What is left of x, in (−ln 2 / 1024, 0].
  const rest = (whole - steps) * PER_STEP;
  return halvings[whole >> 10]! * fractions[whole & (STEPS - 1)]! * (1 + rest * (1 + rest * (0.5 + rest / 6)));
}
