const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** How long ago, in the largest unit that fits: `3 min ago`. */
export function ago(at: number, now: number): string {
  const elapsed = Math.max(0, now - at);
  const [unit, size] = UNITS.find(([, ms]) => elapsed >= ms) ?? ['s', 1_000];
  return `${Math.floor(elapsed / size)} ${unit} ago`;
}
