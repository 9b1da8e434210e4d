import type { Limits } from './api-keys';

const MINUTE_MS = 60_000;
/** Covers the rounding of floating-point refills; far below a unit, and below a millisecond. */
const EPSILON = 1e-3;

/**
 * A token bucket: holds what a minute allows, refills evenly, and may be below 0 after an overdraft. Times are milliseconds of a
 * clock that never goes back.
 */
export interface Bucket {
  readonly level: number;
  readonly at: number;
}

/** Buckets of one key. */
export interface KeyUse {
  readonly requests: Bucket;
  readonly tokens: Bucket;
}

/** What a caller may know of one limit. */
export interface Standing {
  readonly limit: number;
  /** Whole units that are left, never below 0. */
  readonly remaining: number;
  /** Until the bucket is full again, milliseconds. */
  readonly resetMs: number;
}

export interface Admission {
  readonly use: KeyUse;
  /** The limit that was reached; `null`: the request may go on. With both reached, the one that takes longer. */
  readonly reached: 'requests' | 'tokens' | null;
  /** Milliseconds until a request would be admitted; 0 when it is. */
  readonly waitMs: number;
  /** `null` where no limit is set. */
  readonly requests: Standing | null;
  readonly tokens: Standing | null;
}

/** A key that was never used: full buckets, whatever they hold. */
export const unused: KeyUse = { requests: { level: Infinity, at: 0 }, tokens: { level: Infinity, at: 0 } };

const levelAt = (bucket: Bucket, perMinute: number, now: number): number =>
  Math.min(perMinute, bucket.level + (Math.max(0, now - bucket.at) * perMinute) / MINUTE_MS);

function take(bucket: Bucket, perMinute: number | null, amount: number, now: number): Bucket {
  // A limit that is set later begins with a full bucket.
  return perMinute === null
    ? { level: Infinity, at: now }
    : { level: levelAt(bucket, perMinute, now) - amount, at: now };
}

/** Until the bucket holds one whole unit, milliseconds. */
function waitFor(bucket: Bucket, perMinute: number | null, now: number): number {
  if (perMinute === null) return 0;
  const wait = ((1 - levelAt(bucket, perMinute, now)) * MINUTE_MS) / perMinute;
  return wait > EPSILON ? wait : 0;
}

function standing(bucket: Bucket, perMinute: number | null, now: number): Standing | null {
  if (perMinute === null) return null;
  const level = levelAt(bucket, perMinute, now);
  return {
    limit: perMinute,
    remaining: Math.max(0, Math.floor(level + EPSILON)),
    resetMs: ((perMinute - level) * MINUTE_MS) / perMinute,
  };
}

/** Takes one request from the buckets if a request and a token are in them; a refused request takes nothing. */
export function admit(use: KeyUse, limits: Limits, now: number): Admission {
  const { requestsPerMinute, tokensPerMinute } = limits;
  const waits = {
    requests: waitFor(use.requests, requestsPerMinute, now),
    tokens: waitFor(use.tokens, tokensPerMinute, now),
  };
  const waitMs = Math.max(waits.requests, waits.tokens);
  const reached = waitMs === 0 ? null : waits.tokens > waits.requests ? 'tokens' : 'requests';
  const after: KeyUse = {
    requests: take(use.requests, requestsPerMinute, reached === null ? 1 : 0, now),
    tokens: take(use.tokens, tokensPerMinute, 0, now),
  };
  return {
    use: after,
    reached,
    waitMs,
    requests: standing(after.requests, requestsPerMinute, now),
    tokens: standing(after.tokens, tokensPerMinute, now),
  };
}

/** Takes the tokens of an answer that is over, even more than there are. */
export const charged = (use: KeyUse, limits: Limits, tokens: number, now: number): KeyUse => ({
  ...use,
  tokens: take(use.tokens, limits.tokensPerMinute, tokens, now),
});

/** Seconds of `Retry-After`: whole, at least 1. */
export const retryAfterSeconds = (waitMs: number): number => Math.max(1, Math.ceil((waitMs - EPSILON) / 1000));

/** OpenAI's headers for the limits that are set. */
export function rateLimitHeaders({ requests, tokens }: Pick<Admission, 'requests' | 'tokens'>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [unit, limit] of Object.entries({ requests, tokens })) {
    if (!limit) continue;
    headers[`x-ratelimit-limit-${unit}`] = String(limit.limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(limit.remaining);
    headers[`x-ratelimit-reset-${unit}`] = durationText(limit.resetMs);
  }
  return headers;
}

/** `350ms`, `1s`, `1.5s`, `6m0s`, `1h0m0s`, rounded up to milliseconds: Go's form, which OpenAI's headers have. */
export function durationText(ms: number): string {
  const whole = Math.ceil(ms - EPSILON);
  if (whole <= 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / MINUTE_MS);
  const seconds = `${(whole % MINUTE_MS) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
