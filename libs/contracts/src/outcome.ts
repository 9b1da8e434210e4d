import { z } from 'zod';
import { SessionId } from './primitives';

/**
 * `rl.v1.session.outcome`: how a whole session ended, as its environment says. The first one of a session decides its turns that are
 * `outcomePending`; a later one is recorded as late.
 */
export const SessionOutcome = z.strictObject({
  sessionId: SessionId.unwrap(),
  /** −1 failed, +1 succeeded, or anything between. */
  reward: z.number().min(-1).max(1),
  comment: z.string().max(10_000).nullable(),
});
export type SessionOutcome = z.infer<typeof SessionOutcome>;
