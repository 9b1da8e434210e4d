import { z } from 'zod';
import { StepMetrics } from './policy';
import { PolicyVersion, Score, Tenant, Timestamp, TurnId } from './primitives';
import { Cursor, Scope } from './ledger-turns';

/** Steps, newest first; those before a version where one is given. */
export const StepsQuery = z.strictObject({
  before: PolicyVersion.nullable().default(null),
  limit: z.int().min(1).max(1_000).default(200),
});
export type StepsQuery = z.infer<typeof StepsQuery>;

export const VersionState = z.enum(['published', 'refused', 'rolled-back']);
export type VersionState = z.infer<typeof VersionState>;

export const StepRow = z.strictObject({
  version: PolicyVersion,
  parent: PolicyVersion,
  at: Timestamp,
  /** `null` until the trainer said what became of the version. */
  state: VersionState.nullable(),
  reason: z.string().nullable(),
  /** Turns that it was trained on. */
  turns: z.int().nonnegative(),
  /** docs/metrics.md lists the names. */
  metrics: StepMetrics,
});
export type StepRow = z.infer<typeof StepRow>;
export const StepsPage = z.strictObject({ steps: z.array(StepRow), next: PolicyVersion.nullable() });
export type StepsPage = z.infer<typeof StepsPage>;

/** Policy versions, newest first, the last one being the base model, version 0. */
export const VersionsQuery = z.strictObject({
  before: PolicyVersion.nullable().default(null),
  limit: z.int().min(1).max(200).default(50),
});
export type VersionsQuery = z.infer<typeof VersionsQuery>;

export const VersionRow = z.strictObject({
  version: PolicyVersion,
  /** `base`: the model as it was loaded. */
  state: z.enum(['base', ...VersionState.options]),
  reason: z.string().nullable(),
  /** `null` for the base model. */
  parent: PolicyVersion.nullable(),
  adapter: z.string().nullable(),
  at: Timestamp.nullable(),
  /** Mean over the probe answers of Σ log π − Σ log π_base, nats; `null` where it was not measured. */
  driftNats: z.number().nullable(),
  trainedTurns: z.int().nonnegative(),
  /** The turns that it answered. */
  served: z.strictObject({
    turns: z.int().nonnegative(),
    judged: z.int().nonnegative(),
    /** Mean eval score of the judged ones; `null` when there are none. */
    meanEvalScore: z.number().nullable(),
    hintRate: z.number().nullable(),
  }),
});
export type VersionRow = z.infer<typeof VersionRow>;
export const VersionsPage = z.strictObject({ versions: z.array(VersionRow), next: PolicyVersion.nullable() });
export type VersionsPage = z.infer<typeof VersionsPage>;

/** The judge's work of the last days, today among them (UTC). */
export const JudgeQuery = z.strictObject({ tenant: Scope, days: z.int().min(1).max(90).default(14) });
export type JudgeQuery = z.infer<typeof JudgeQuery>;

const Count = z.int().nonnegative();

export const JudgeDay = z.strictObject({
  /** YYYY-MM-DD, UTC. */
  day: z.iso.date(),
  turns: Count,
  votes: Count,
  abstained: Count,
  meanScore: z.number().nullable(),
  latencyP50Ms: z.number().nonnegative().nullable(),
  latencyP95Ms: z.number().nonnegative().nullable(),
  tokens: Count,
  /** `null` where no vote of the day has a price. */
  cost: z.number().nonnegative().nullable(),
});
export const JudgeStatistics = z.strictObject({
  days: z.array(JudgeDay),
  /** How often each value was voted. */
  votes: z.array(z.strictObject({ kind: z.enum(['eval', 'hint']), score: Score, count: Count })),
  abstentions: z.array(z.strictObject({ kind: z.enum(['eval', 'hint']), reason: z.string(), count: Count })),
  /** Among the readable eval votes of a turn that has at least two: turns, and those of them where all said the same. */
  agreement: z.strictObject({ turns: Count, unanimous: Count }),
  /** Turns that a person scored: the majority of the judge's votes beside the person's word. */
  human: z.array(z.strictObject({ judge: Score, person: Score, count: Count })),
});
export type JudgeStatistics = z.infer<typeof JudgeStatistics>;

/** Dead letters, newest first. */
export const DeadLettersQuery = z.strictObject({
  tenant: Scope,
  code: z.string().min(1).max(200).nullable().default(null),
  subject: z.string().min(1).max(200).nullable().default(null),
  before: Cursor.nullable().default(null),
  limit: z.int().min(1).max(200).default(50),
});
export type DeadLettersQuery = z.infer<typeof DeadLettersQuery>;

/** Which one: its place in the stream, and when, which tells it from the same place of a newly created stream. */
export const DeadLetterId = z.strictObject({ sequence: z.int().positive(), at: Timestamp });
export type DeadLetterId = z.infer<typeof DeadLetterId>;

export const DeadLetterRow = DeadLetterId.extend({
  turnId: TurnId.nullable(),
  tenant: Tenant,
  subject: z.string(),
  consumer: z.string(),
  code: z.string(),
  error: z.string(),
  deliveries: Count,
});
export type DeadLetterRow = z.infer<typeof DeadLetterRow>;
export const DeadLettersPage = z.strictObject({ letters: z.array(DeadLetterRow), next: Cursor.nullable() });
export type DeadLettersPage = z.infer<typeof DeadLettersPage>;

export const DeadLetterQuery = DeadLetterId.extend({ tenant: Scope });
export type DeadLetterQuery = z.infer<typeof DeadLetterQuery>;
export const DeadLetterAnswer = z.discriminatedUnion('found', [
  z.strictObject({
    found: z.literal(true),
    letter: DeadLetterRow,
    /** The message, indented where it is JSON, cut at 100,000 characters; `null` when the stream holds it no more. */
    message: z.string().nullable(),
  }),
  z.strictObject({ found: z.literal(false) }),
]);
export type DeadLetterAnswer = z.infer<typeof DeadLetterAnswer>;

export const DeadLetterReplay = DeadLetterId.extend({
  tenant: Scope,
  /** Also a message that still breaks its contract. */
  force: z.boolean().default(false),
});
export const DeadLetterOutcome = z.strictObject({
  outcome: z.enum(['replayed', 'discarded', 'refused', 'gone']),
  /** Why it was refused, or what happens next; for a person. */
  message: z.string(),
});
export type DeadLetterOutcome = z.infer<typeof DeadLetterOutcome>;
