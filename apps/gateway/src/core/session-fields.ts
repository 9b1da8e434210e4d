export type TurnType = 'main' | 'side';

/** Why nothing of a request is captured: it is a side request, or its user does not want it to be trained on. */
export type SkipReason = 'side' | 'no-consent';

export interface SessionFields {
  /** The client's own id; only its HMAC goes further. */
  readonly rawSessionId: string | null;
  readonly turnType: TurnType;
  /** `null`: the answer is captured. */
  readonly skipped: SkipReason | null;
  readonly isLast: boolean;
}

const TRUE = new Set(['1', 'true', 'yes', 'on']);

const asText = (value: unknown): string | null => {
  const text = Array.isArray(value) ? value[0] : value;
  if (typeof text !== 'string' && typeof text !== 'number') return null;
  const trimmed = String(text).trim();
  return trimmed === '' ? null : trimmed;
};

/**
 * `X-Session-Id`, `X-Turn-Type`, `X-Session-Done`, `X-Hindcast-Train`, or the same as `session_id`, `turn_type`, `session_done`,
 * `train` in the body; a non-empty header wins, but for `train` either can say no. What is marked in an unknown way is not trained
 * on: a turn type that is neither `main` nor `side` is a side request, a `train` that is not a yes is a no.
 */
export function sessionFields(
  headers: Readonly<Record<string, unknown>>,
  body: Readonly<Record<string, unknown>>,
  defaultTurnType: TurnType,
): SessionFields {
  const named = asText(headers['x-turn-type']) ?? asText(body['turn_type']);
  const turnType = named === null ? defaultTurnType : named.toLowerCase() === 'main' ? 'main' : 'side';
  const isTrue = (value: unknown): boolean => value === true || TRUE.has(asText(value)?.toLowerCase() ?? '');
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
  const isRefused = [headers['x-hindcast-train'], body['train']].some((value) => isGiven(value) && !isTrue(value));
  return {
    rawSessionId: asText(headers['x-session-id']) ?? asText(body['session_id']),
    turnType,
    skipped: isRefused ? 'no-consent' : turnType === 'side' ? 'side' : null,
    isLast: isTrue(headers['x-session-done']) || isTrue(body['session_done']),
  };
}
