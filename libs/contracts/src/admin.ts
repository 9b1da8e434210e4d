import { z } from 'zod';
import { TurnDetail } from './ledger-turns';
import { LedgerOverview, ServiceReport } from './overview';
import { CanaryPolicy } from './policy';
import { PolicyVersion, Timestamp } from './primitives';
import { EncodedNumbers } from './typed-array';

/** What a service says of itself, without its settings. */
export const ServiceSummary = ServiceReport.omit({ settings: true });
export type ServiceSummary = z.infer<typeof ServiceSummary>;

/** One engine, as a person sees it. */
export const EngineSummary = z.strictObject({
  /** Base URL without credentials. */
  url: z.string(),
  ok: z.boolean(),
  /** What is wrong with it. */
  detail: z.string().nullable(),
  /** Names that it answers to, as last heard. */
  models: z.array(z.string()),
});
export type EngineSummary = z.infer<typeof EngineSummary>;

/** Answer of `GET /admin/v1/overview`, and the data of the event `overview`. */
export const Overview = z.strictObject({
  /** `null` while the dispatcher or its database is away. */
  ledger: LedgerOverview.nullable(),
  /** Samples of a step: wanted, and at least; `null` until a trainer has started. */
  batch: z.strictObject({ size: z.int().positive(), min: z.int().positive() }).nullable(),
  method: z.string().nullable(),
  policy: z.strictObject({
    version: PolicyVersion,
    adapter: z.string().nullable(),
    /** Milliseconds since the epoch; 0: the base model has served from the beginning. */
    since: Timestamp,
    canary: CanaryPolicy.nullable(),
  }),
  engines: z.array(EngineSummary),
  services: z.array(ServiceSummary),
  broker: z.strictObject({
    ok: z.boolean(),
    /** What its streams survive: `process-death` or `power-loss`; `null` before the first connection. */
    durability: z.string().nullable(),
  }),
});
export type Overview = z.infer<typeof Overview>;

/** Answer of `GET /admin/v1/turns/{id}`. */
export const ShownTurn = z.strictObject({
  detail: TurnDetail,
  /** Text of each sampled token, `[R]`; `null` where it is not known. */
  texts: z.array(z.string().nullable()).nullable(),
  /** What the advantages, `[R]`, would be with the trainer's weights of now; `null` for a turn that does not wait to be trained. */
  expected: z
    .strictObject({ advantages: EncodedNumbers, wRl: z.number().nonnegative(), wOpd: z.number().nonnegative() })
    .nullable(),
});
export type ShownTurn = z.infer<typeof ShownTurn>;
