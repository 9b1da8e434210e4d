import { z } from 'zod';
import { PolicyVersion, Tenant } from './primitives';

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
