import { z } from 'zod';
import { LedgerStatus } from './ledger-status';
import { PolicyVersion, Timestamp } from './primitives';
import { Scope } from './ledger-turns';

export const OverviewQuery = z.strictObject({ tenant: Scope });
export type OverviewQuery = z.infer<typeof OverviewQuery>;

const Count = z.int().nonnegative();

/** The books, what went over each arrow of the loop so far, and how much waits on it. */
export const LedgerOverview = z.strictObject({
  status: LedgerStatus,
  /** Turns, samples and versions that passed each arrow. */
  flow: z.strictObject({
    captured: Count,
    paired: Count,
    hinted: Count,
    unhinted: Count,
    scored: Count,
    ready: Count,
    trained: Count,
    refused: Count,
    published: Count,
  }),
  /** Messages that a consumer has not taken or not finished; by durable name. All tenants. */
  pending: z.record(z.string(), Count),
  deadLetters: Count,
  /** Since when the version serves that the ledger knows as the newest; `null` for the base model. */
  policySince: Timestamp.nullable(),
  /** Grows whenever the list of turns changes: a page that shows it may ask again. */
  turnsRevision: z.string(),
});
export type LedgerOverview = z.infer<typeof LedgerOverview>;

/** Asks every process that is on the bus; each answers for itself. */
export const ServicesQuery = z.strictObject({});
export type ServicesQuery = z.infer<typeof ServicesQuery>;

export const Setting = z.strictObject({
  name: z.string(),
  /** As the process uses it, as a text; `null` when it is unset, or secret. */
  value: z.string().nullable(),
  isSecret: z.boolean(),
  /** A secret has a value, too. */
  isSet: z.boolean(),
  /** It was given, rather than left at its default. */
  isGiven: z.boolean(),
});
export type Setting = z.infer<typeof Setting>;

export const ServiceReport = z.strictObject({
  app: z.string(),
  /** Names the process among its replicas. */
  instance: z.string(),
  release: z.string(),
  node: z.string(),
  startedAt: Timestamp,
  ready: z.boolean(),
  /** The checks of `/readyz`; `detail` says what is wrong. */
  checks: z.array(z.strictObject({ name: z.string(), ok: z.boolean(), detail: z.string().nullable() })),
  settings: z.array(Setting),
});
export type ServiceReport = z.infer<typeof ServiceReport>;

/** KV `policy`, key `rollback-request`: a person wants an earlier version back in service. The trainer takes it up. */
export const RollbackWish = z.strictObject({
  id: z.uuid(),
  version: PolicyVersion,
  reason: z.string().max(500).nullable(),
  at: Timestamp,
});
export type RollbackWish = z.infer<typeof RollbackWish>;

/** KV `policy`, key `rollback-outcome`: what became of the last one; `failed` is tried again. */
export const RollbackAnswer = z.strictObject({
  id: z.uuid(),
  version: PolicyVersion,
  state: z.enum(['done', 'refused', 'failed']),
  message: z.string().nullable(),
  at: Timestamp,
});
export type RollbackAnswer = z.infer<typeof RollbackAnswer>;
