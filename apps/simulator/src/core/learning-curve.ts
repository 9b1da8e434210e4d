/** Share of `true`; `null` for an empty list, since no answer is not a bad answer. */
export function rate(outcomes: readonly boolean[]): number | null {
  return outcomes.length === 0 ? null : outcomes.filter(Boolean).length / outcomes.length;
}

/** Sessions until the first `run` successes in a row, counted from 1; `null` when they never came. */
export function sessionsToRun(outcomes: readonly boolean[], run: number): number | null {
  let length = 0;
  for (const [i, met] of outcomes.entries()) {
    length = met ? length + 1 : 0;
    if (length === run) return i + 1;
  }
  return null;
}

/** Sessions until `successes` of the last `window` sessions succeeded, counted from 1; never before the window is full. */
export function sessionsToShare(outcomes: readonly boolean[], successes: number, window: number): number | null {
  for (let end = window; end <= outcomes.length; end++) {
    if (outcomes.slice(end - window, end).filter(Boolean).length >= successes) return end;
  }
  return null;
}

/** Middle value; the mean of the two middle ones for an even count. `null` for an empty list. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
