export type TurnType = 'main' | 'side';

export interface SessionFields {
  /** The client's own id; only its HMAC goes further. */
  readonly rawSessionId: string | null;
  readonly turnType: TurnType;
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
 * `X-Session-Id`, `X-Turn-Type`, `X-Session-Done`, or the same as `session_id`, `turn_type`, `session_done` in the body; a
 * non-empty header wins. A turn type that is neither `main` nor `side` is a side request: what is marked in an unknown way
 * is not trained on.
 */
export function sessionFields(
  headers: Readonly<Record<string, unknown>>,
  body: Readonly<Record<string, unknown>>,
  defaultTurnType: TurnType,
): SessionFields {
  const turnType = asText(headers['x-turn-type']) ?? asText(body['turn_type']);
  const isTrue = (value: unknown): boolean => value === true || TRUE.has(asText(value)?.toLowerCase() ?? '');
  return {
    rawSessionId: asText(headers['x-session-id']) ?? asText(body['session_id']),
    turnType: turnType === null ? defaultTurnType : turnType.toLowerCase() === 'main' ? 'main' : 'side',
    isLast: isTrue(headers['x-session-done']) || isTrue(body['session_done']),
  };
}
