/** How long to wait before the next try: 1 s, doubled with each failure, 30 s at most; `share` in [0, 1) spreads pages that lost the same gateway. ms */
export function backOff(failures: number, share: number): number {
  const longest = Math.min(30_000, 1_000 * 2 ** Math.max(0, failures - 1));
  return Math.round(longest * (0.5 + share / 2));
}
