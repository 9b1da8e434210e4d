import { numberText, powerText } from './number';

/** Labels of an axis: all with the same number of digits, as many as tell the ticks apart; thousands as k, millions as M. */
export function axisLabels(ticks: readonly number[]): string[] {
  const largest = Math.max(0, ...ticks.map(Math.abs));
  const step = ticks.length > 1 ? Math.abs(ticks[1]! - ticks[0]!) : largest;
  if (largest === 0 || step === 0) return ticks.map((tick) => numberText(tick));
  if (largest < 1e-3) return ticks.map((tick) => (tick === 0 ? '0' : powerText(tick, 3)));
  const [unit, suffix] =
    largest >= 1e6 ? ([1e6, 'M'] as const) : largest >= 1e4 ? ([1e3, 'k'] as const) : ([1, ''] as const);
  const digits = decimals(step / unit);
  return ticks.map((tick) => {
    const text = (tick / unit).toFixed(digits);
    return Number(text) === 0 ? '0' : `${text.replace('-', '−')}${suffix}`;
  });
}

/** Decimals that write the step of an axis exactly, at most 6. */
function decimals(step: number): number {
  for (let digits = 0; digits < 6; digits += 1) {
    const scaled = step * 10 ** digits;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * Math.max(1, scaled)) return digits;
  }
  return 6;
}
