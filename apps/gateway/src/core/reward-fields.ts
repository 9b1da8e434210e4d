/** What a request says about how its answer will be rewarded. */
export interface RewardFields {
  /** The turn waits for its session's outcome. */
  readonly outcomePending: boolean;
  /** What a verifier compares the answer with. */
  readonly groundTruth: string | null;
}

export type RewardFieldsCheck =
  | { readonly ok: true; readonly fields: RewardFields }
  | { readonly ok: false; readonly message: string; readonly param: string };

/** Of a `ground_truth`, in UTF-16 units, as the contract counts them. */
export const MAX_GROUND_TRUTH = 10_000;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/**
 * `X-Session-Outcome`, or `session_outcome` in the body: `pending` marks a turn whose reward is its session's outcome. `ground_truth`
 * in the body alone: a header would be cut to Latin-1, and written into the logs of what stands between. A mark that cannot be meant
 * is refused: unmarked, the turn would be decided without its outcome.
 */
export function rewardFields(
  headers: Readonly<Record<string, unknown>>,
  body: Readonly<Record<string, unknown>>,
  hasSession: boolean,
): RewardFieldsCheck {
  const marks = [headers['x-session-outcome'], body['session_outcome']].filter(isGiven);
  if (marks.some((mark) => typeof mark !== 'string' || mark.trim().toLowerCase() !== 'pending'))
    return refuse('session_outcome must be pending', 'session_outcome');
  const outcomePending = marks.length > 0;
  if (outcomePending && !hasSession)
    return refuse('session_outcome needs a session: give session_id or X-Session-Id', 'session_outcome');
  const truth = body['ground_truth'];
  if (!isGiven(truth)) return { ok: true, fields: { outcomePending, groundTruth: null } };
  if (typeof truth !== 'string' || truth.length > MAX_GROUND_TRUTH)
    return refuse(`ground_truth must be a text of at most ${MAX_GROUND_TRUTH} characters`, 'ground_truth');
  return { ok: true, fields: { outcomePending, groundTruth: truth } };
}

const refuse = (message: string, param: string): RewardFieldsCheck => ({ ok: false, message, param });
