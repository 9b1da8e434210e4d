/** What an answer that is no vote says about the next try. */
export interface Prospect {
  /** Another try of the same call can help. */
  readonly again: boolean;
  /** The judge itself is in trouble: the breaker counts it. */
  readonly broken: boolean;
}

/**
 *   status                    again   broken
 *   429                       yes     no       the judge is well and asks for patience
 *   408, 425, 5xx             yes     yes
 *   401, 402, 403, 404, 407   yes     yes      the key, the bill or the model: the next prompt would fare no better, so that going on
 *                                              at full speed would spend the backlog on nothing
 *   anything else             no      no       this prompt is refused
 */
export function prospectOf(status: number): Prospect {
  if (status === 429) return { again: true, broken: false };
  const passing = status >= 500 || [401, 402, 403, 404, 407, 408, 425].includes(status);
  return { again: passing, broken: passing };
}

/** Delay before the second try, and the longest one without a word from the judge, ms. */
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;
/** Longest wait of all, ms: no vote takes longer, and a timer overflows at a few weeks. */
const LIMIT_MS = 3_600_000;
/** Spread of the tries of many votes that were told the same `Retry-After`, ms. */
const SPREAD_MS = 500;

/**
 * Delay after the `attempt`-th try, ms: doubles, ±50 %; never less than what the judge asked for.
 * @param random in [0, 1)
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: number): number {
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempt - 1, 20), LONGEST_DELAY_MS) * (0.5 + random);
  const delay = retryAfterMs === null ? backoff : Math.max(backoff, retryAfterMs + SPREAD_MS * random);
  return Math.round(Math.min(delay, LIMIT_MS));
}

/**
 * `Retry-After` (RFC 9110 §10.2.3): whole seconds, or a date.
 * @returns milliseconds from `now` on, 0 for a date that is past; `null` when the header says nothing that can be read
 */
export function readRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Whether a refusal is about `response_format`, by what the servers that do not know it answer. */
export function mayRefuseFormat(status: number, body: string): boolean {
  if ([400, 404, 422, 501].includes(status)) return true;
  return status >= 500 && /response_format|json_schema/.test(body);
}
