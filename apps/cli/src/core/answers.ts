import {
  CanaryPolicy,
  LedgerOverview,
  PolicyVersion,
  ServiceReport,
  Timestamp,
  TurnDetail,
  EncodedNumbers,
} from '@hindcast/contracts';
import { z } from 'zod';

/** What a service says of itself, without its settings. */
export const ServiceSummary = ServiceReport.omit({ settings: true });
export type ServiceSummary = z.infer<typeof ServiceSummary>;

/** `GET /admin/v1/overview`. */
export const Overview = z.object({
  /** `null` while the dispatcher or its database is away. */
  ledger: LedgerOverview.nullable(),
  batch: z.object({ size: z.int().positive(), min: z.int().positive() }).nullable(),
  method: z.string().nullable(),
  policy: z.object({
    version: PolicyVersion,
    adapter: z.string().nullable(),
    since: Timestamp,
    canary: CanaryPolicy.nullable(),
  }),
  engines: z.array(
    z.object({ url: z.string(), ok: z.boolean(), detail: z.string().nullable(), models: z.array(z.string()) }),
  ),
  services: z.array(ServiceSummary),
  broker: z.object({ ok: z.boolean(), durability: z.string().nullable() }),
});
export type Overview = z.infer<typeof Overview>;

/** `GET /admin/v1/turns/{id}`. */
export const ShownTurn = z.object({
  detail: TurnDetail,
  /** Text of each sampled token; `null` where it is not known. */
  texts: z.array(z.string().nullable()).nullable(),
  /** The advantages as they would be with the trainer's weights of now, of a turn that is not trained yet. */
  expected: z
    .object({ advantages: EncodedNumbers, wRl: z.number().nonnegative(), wOpd: z.number().nonnegative() })
    .nullable(),
});
export type ShownTurn = z.infer<typeof ShownTurn>;
