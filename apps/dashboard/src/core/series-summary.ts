import { numberText, withUnit } from './number';
import type { SeriesValues } from './step-series';

export interface SeriesSummary {
  readonly last: number;
  /** Place of the last number. */
  readonly lastAt: number;
  readonly min: number;
  readonly max: number;
  /** Places without a number. */
  readonly missing: number;
}

/** `null` where there is no number at all. */
export function summaryOf(values: SeriesValues): SeriesSummary | null {
  let summary: { last: number; lastAt: number; min: number; max: number } | null = null;
  let missing = 0;
  values.forEach((value, at) => {
    if (value === null) missing += 1;
    else
      summary = {
        last: value,
        lastAt: at,
        min: Math.min(value, (summary as SeriesSummary | null)?.min ?? value),
        max: Math.max(value, (summary as SeriesSummary | null)?.max ?? value),
      };
  });
  return summary === null ? null : { ...(summary as Omit<SeriesSummary, 'missing'>), missing };
}

/**
 * A chart in words: `total: last 0.12 at step 9, lowest 0.1, highest 0.3.`
 *
 * @param places label of each place, such as `step 9`, `[n]`.
 */
export function summaryText(
  lines: readonly { readonly label: string; readonly values: SeriesValues }[],
  places: readonly string[],
  unit: string | null,
): string {
  return lines
    .map(({ label, values }) => {
      const summary = summaryOf(values);
      if (summary === null) return `${label}: no number.`;
      const { last, lastAt, min, max, missing } = summary;
      const gaps = missing > 0 ? `, none at ${missing} of ${values.length}` : '';
      return `${label}: last ${withUnit(numberText(last), unit)} at ${places[lastAt] ?? lastAt}, lowest ${numberText(min)}, highest ${numberText(max)}${gaps}.`;
    })
    .join(' ');
}
