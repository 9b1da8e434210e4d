import type { FailureKind } from './circuit';

/** How an attempt ended before the engine's answer began. */
export type AttemptEnd =
  { readonly kind: Exclude<FailureKind, 'status'> } | { readonly kind: 'status'; readonly status: number };

/** What decides beside the attempt itself. */
export interface RetryCircumstances {
  /** Whether the request changes nothing at the engine, however often it is carried out. */
  readonly isRepeatable: boolean;
  /** POLICY_RETRY_CUT. */
  readonly retryCut: boolean;
  /** Attempts of this request, the last one included, whose connection was cut. */
  readonly cuts: number;
}

/** The engine says that it did not take the request. */
const REFUSED = new Set([429, 503]);
/** Something before the engine says that it got no answer: the engine may have carried the request out. */
const UNCERTAIN = new Set([502, 504]);

/**
 * Why a request may be sent again, as a metric's label; `null` when it may not. The answer has not begun.
 *
 *   attempt                        sent again
 *   no connection                  always: the request never arrived
 *   429, 503                       always: the engine refused it
 *   502, 504                       when repeatable
 *   connection cut                 when repeatable, once, and only with POLICY_RETRY_CUT: the request may be what killed the engine
 *   silence                        never: the engine may still be at it
 *   any other status               never: it would be the same again
 */
export function retryReason(end: AttemptEnd, circumstances: RetryCircumstances): string | null {
  const { isRepeatable, retryCut, cuts } = circumstances;
  switch (end.kind) {
    case 'unreachable':
      return 'unreachable';
    case 'status':
      return REFUSED.has(end.status) || (UNCERTAIN.has(end.status) && isRepeatable) ? `status-${end.status}` : null;
    case 'cut':
      return isRepeatable && retryCut && cuts === 1 ? 'cut' : null;
    case 'timeout':
      return null;
  }
}

/** A request that is kept at the engine would be kept twice. */
export const isRepeatable = (body: object): boolean => (body as { store?: unknown }).store !== true;

/**
 * Retries that a request has left. Clients count theirs in `x-stainless-retry-count` (OpenAI's and Anthropic's packages); each of
 * them takes one of ours, so that the two do not multiply.
 */
export function retriesLeft(configured: number, clientRetries: unknown): number {
  const count = typeof clientRetries === 'string' && /^\d{1,6}$/.test(clientRetries) ? Number(clientRetries) : 0;
  return Math.max(0, configured - count);
}

const FIRST_WAIT_MS = 100;

/**
 * Pause before the same engine is asked again, milliseconds: twice as long each time, shortened by up to half at random, but never
 * shorter than what the engine asks for; `null` when that is longer than `maxMs`.
 *
 * @param attempt number of the attempt that failed, from 1
 * @param retryAfterMs what the engine's Retry-After says; `null`: nothing
 * @param random from 0 to 1
 */
export function retryWaitMs(
  attempt: number,
  retryAfterMs: number | null,
  maxMs: number,
  random: number,
): number | null {
  if (retryAfterMs !== null && retryAfterMs > maxMs) return null;
  const backOff = Math.min(maxMs, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + random / 2);
  return Math.max(backOff, retryAfterMs ?? 0);
}

/**
 * Retry-After in milliseconds: seconds or a date (RFC 9110 §10.2.3); `null` for none or an unreadable one.
 *
 * @param nowMs the time of day, milliseconds since 1970
 */
export function retryAfterMs(header: unknown, nowMs: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const date = /[a-z]/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
