import { z } from 'zod';
import { PolicyVersion, Reward, Score, Tenant } from './primitives';
import { RewardSource } from './sample';

/** Ledger reads over core NATS request/reply; no stream covers them. */
export const TurnQuery = z.strictObject({ tenant: Tenant, id: z.string().min(1).max(200) });
export type TurnQuery = z.infer<typeof TurnQuery>;

/** The story of a turn (`GET /v1/turns/{turn or response id}`). */
export const TurnStory = z.strictObject({
  turnId: z.string(),
  responseId: z.string(),
  state: z.enum(['open', 'paired', 'judged', 'decided', 'trained', 'closed']),
  /** Row of the gate; `null` until decided. */
  case: z.enum(['opdRl', 'opd', 'rl', 'drop']).nullable(),
  /** Why it was dropped, closed or refused; `null` when there is nothing to explain. */
  reason: z.string().nullable(),
  policyVersion: PolicyVersion,
  evalScore: Score.nullable(),
  /** r of the sample; `null` until decided and when dropped. */
  reward: Reward.nullable(),
  rewardSource: RewardSource.nullable(),
  hint: z.string().nullable(),
  /** Version that was trained on this turn. */
  trainedIn: PolicyVersion.nullable(),
});
export type TurnStory = z.infer<typeof TurnStory>;

export const TurnAnswer = z.discriminatedUnion('found', [
  z.strictObject({ found: z.literal(true), turn: TurnStory }),
  z.strictObject({ found: z.literal(false) }),
]);
export type TurnAnswer = z.infer<typeof TurnAnswer>;

export const StatusQuery = z.strictObject({ tenant: Tenant.nullable() });
export type StatusQuery = z.infer<typeof StatusQuery>;

/**
 * The books. They always balance:
 * captured = paired + untrainable + expired + superseded + failed + open and paired = opdRl + opd + rl + drop + deciding.
 */
export const LedgerStatus = z.strictObject({
  turns: z.strictObject({
    captured: z.int(),
    paired: z.int(),
    untrainable: z.int(),
    expired: z.int(),
    superseded: z.int(),
    failed: z.int(),
    open: z.int(),
  }),
  cases: z.strictObject({ opdRl: z.int(), opd: z.int(), rl: z.int(), drop: z.int(), deciding: z.int() }),
  /** Count by reason: drops, untrainable turns, refusals, dead letters. */
  reasons: z.record(z.string(), z.int()),
  /** Samples published or to be published that no version and no refusal accounts for yet. */
  waitingSamples: z.int().nonnegative(),
  samplesTrained: z.int().nonnegative(),
  /** Steps the ledger knows of, published or refused. */
  steps: z.int().nonnegative(),
  versionsPublished: z.int().nonnegative(),
  policyVersion: PolicyVersion,
});
export type LedgerStatus = z.infer<typeof LedgerStatus>;

export const queries = {
  turn: { subject: 'rl.query.v1.turn', request: TurnQuery, reply: TurnAnswer },
  status: { subject: 'rl.query.v1.status', request: StatusQuery, reply: LedgerStatus },
} as const;
export type QueryName = keyof typeof queries;
