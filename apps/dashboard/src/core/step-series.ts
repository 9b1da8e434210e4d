import type { StepRow } from '@hindcast/contracts';

/** One number per step; `null` where the step has none. It is never 0 for want of a number. */
export type SeriesValues = readonly (number | null)[];

/** Steps by version, oldest first. Of two with the same version the later one of the list counts. */
export function stepsInOrder(steps: readonly StepRow[]): StepRow[] {
  const byVersion = new Map(steps.map((step) => [step.version, step]));
  return [...byVersion.values()].sort((a, b) => a.version - b.version);
}

/** The newest `count` of the steps, which are in order. */
export function newestSteps(steps: readonly StepRow[], count: number): readonly StepRow[] {
  return steps.slice(Math.max(0, steps.length - count));
}

/** A metric of every step, `[steps]`. */
export function seriesOf(steps: readonly StepRow[], metric: string): (number | null)[] {
  return steps.map(({ metrics }) => {
    const value = metrics[metric];
    return Number.isFinite(value) ? value! : null;
  });
}

export const hasNumber = (values: SeriesValues): boolean => values.some((value) => value !== null);

/** Beside the largest number of a chart, and beside 1, this much is the rounding of a computer. */
const ROUNDING = 1e-9;
const ROUNDING_OF_ONE = 1e-14;

/** The lines of a chart with 0 for what is nothing but rounding at its scale: 3.6 · 10⁻¹⁶ for a mean that is 0. */
export function withoutRounding<Line extends { readonly values: SeriesValues }>(lines: readonly Line[]): Line[] {
  const scale = lines.reduce(
    (largest, { values }) => values.reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 0)), largest),
    0,
  );
  const least = Math.max(scale * ROUNDING, ROUNDING_OF_ONE);
  return lines.map((line) => ({
    ...line,
    values: line.values.map((value) => (value !== null && Math.abs(value) < least ? 0 : value)),
  }));
}

/**
 * Exponential moving average, `[n]`. A gap stays a gap, and the average goes on behind it.
 *
 *   sₜ = w · sₜ₋₁ + (1 − w) · xₜ, divided by 1 − wⁿ after n numbers, so that the first ones do not lean towards 0
 *
 * @param weight w in [0, 1); 0 leaves the values as they are.
 */
export function smoothed(values: SeriesValues, weight: number): (number | null)[] {
  if (!(weight >= 0 && weight < 1))
    throw new RangeError(`the weight of a moving average lies in [0, 1), not ${weight}`);
  let sum = 0;
  let numbers = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    numbers += 1;
    return sum / (1 - weight ** numbers);
  });
}

/** A step whose version does not serve, to be marked in every chart. */
export interface StepMark {
  readonly version: number;
  readonly state: 'refused' | 'rolled-back';
  readonly reason: string | null;
}

export function stepMarks(steps: readonly StepRow[]): StepMark[] {
  return steps.flatMap(({ version, state, reason }) =>
    state === 'refused' || state === 'rolled-back' ? [{ version, state, reason }] : [],
  );
}

/** In words: `2 versions refused, 1 rolled back`; empty without a mark. */
export function marksText(marks: readonly StepMark[]): string {
  const count = (state: StepMark['state']): number => marks.filter((mark) => mark.state === state).length;
  const refused = count('refused');
  const rolledBack = count('rolled-back');
  return [refused > 0 ? `${refused} refused` : '', rolledBack > 0 ? `${rolledBack} rolled back` : '']
    .filter((part) => part !== '')
    .join(', ');
}
