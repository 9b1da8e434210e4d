/**
 * Delay before attempt `attempt` + 1, milliseconds: doubles from `baseMs` up to `maxMs`, then ±50 % by `random` in [0, 1).
 * The spread keeps many waiting workers from coming back at the same instant.
 */
export function backoffMs(attempt: number, baseMs: number, maxMs: number, random: number): number {
  const exponent = Math.min(Math.max(attempt - 1, 0), 30);
  return Math.round(Math.min(baseMs * 2 ** exponent, maxMs) * (0.5 + random));
}
