import { z } from 'zod';
import { DeadLetter } from './dead';
import { SessionOutcome } from './outcome';
import { PolicyUpdated } from './policy';
import { Tenant, Timestamp, TurnId, type Envelope } from './primitives';
import { RefusedSample, Sample } from './sample';
import { TrainedSample } from './trained';
import { CapturedTurn, ClosedTurn, HintedTurn, PairedTurn, ScoredTurn, UnhintedTurn } from './turn';

export type AppName = 'gateway' | 'judge-svc' | 'teacher-svc' | 'dispatcher' | 'trainer';
export type Publisher = AppName | 'libs/platform';

interface Contract {
  readonly subject: string;
  /** Schema of the envelope's body. */
  readonly body: z.ZodType;
  /** First part of the message id, `<stage>.<turnId>`; both judged subjects share one, so that the first judgement wins. */
  readonly stage: string;
  readonly publisher: Publisher;
  readonly handlers: readonly AppName[];
}

/** Every message on the bus: its subject, its schema, its only publisher, its handlers. No subject literal exists elsewhere. */
export const contracts = {
  turnCaptured: {
    subject: 'rl.v1.turn.captured',
    body: CapturedTurn,
    stage: 'captured',
    publisher: 'gateway',
    handlers: ['dispatcher'],
  },
  turnClosed: {
    subject: 'rl.v1.turn.closed',
    body: ClosedTurn,
    stage: 'closed',
    publisher: 'gateway',
    handlers: ['dispatcher'],
  },
  turnPaired: {
    subject: 'rl.v1.turn.paired',
    body: PairedTurn,
    stage: 'paired',
    publisher: 'gateway',
    handlers: ['judge-svc', 'dispatcher'],
  },
  sessionOutcome: {
    subject: 'rl.v1.session.outcome',
    body: SessionOutcome,
    stage: 'outcome',
    publisher: 'gateway',
    handlers: ['dispatcher'],
  },
  turnHinted: {
    subject: 'rl.v1.turn.judged.hinted',
    body: HintedTurn,
    stage: 'judged',
    publisher: 'judge-svc',
    handlers: ['teacher-svc'],
  },
  turnUnhinted: {
    subject: 'rl.v1.turn.judged.unhinted',
    body: UnhintedTurn,
    stage: 'judged',
    publisher: 'judge-svc',
    handlers: ['dispatcher'],
  },
  turnScored: {
    subject: 'rl.v1.turn.scored',
    body: ScoredTurn,
    stage: 'scored',
    publisher: 'teacher-svc',
    handlers: ['dispatcher'],
  },
  sampleReady: {
    subject: 'rl.v1.sample.ready',
    body: Sample,
    stage: 'sample',
    publisher: 'dispatcher',
    handlers: ['trainer'],
  },
  sampleRefused: {
    subject: 'rl.v1.sample.refused',
    body: RefusedSample,
    stage: 'refused',
    publisher: 'trainer',
    handlers: ['dispatcher'],
  },
  sampleTrained: {
    subject: 'rl.v1.sample.trained',
    body: TrainedSample,
    stage: 'trained',
    publisher: 'trainer',
    handlers: ['dispatcher'],
  },
  policyUpdated: {
    subject: 'rl.v1.policy.updated',
    body: PolicyUpdated,
    stage: 'policy',
    publisher: 'trainer',
    handlers: ['dispatcher'],
  },
  /** One subject per subject that can fail: `rl.v1.dead.` + the failed subject. */
  dead: {
    subject: 'rl.v1.dead.>',
    body: DeadLetter,
    stage: 'dead',
    publisher: 'libs/platform',
    handlers: ['dispatcher'],
  },
} as const satisfies Record<string, Contract>;

export type ContractName = keyof typeof contracts;
export type BodyOf<Name extends ContractName> = z.infer<(typeof contracts)[Name]['body']>;
export type MessageOf<Name extends ContractName> = Envelope<BodyOf<Name>>;

/** Schema of a whole message. Only an outcome, a policy update and a dead letter may lack a turn. */
export function messageSchema<Name extends ContractName>(name: Name): z.ZodType<MessageOf<Name>> {
  let schema = schemas.get(name);
  if (!schema) schemas.set(name, (schema = schemaOf(name)));
  return schema as z.ZodType<MessageOf<Name>>;
}

/** Each made once: zod compiles a schema at its first use, which costs more than many parses. */
const schemas = new Map<ContractName, z.ZodType>();

function schemaOf(name: ContractName): z.ZodType {
  const turnless = name === 'sessionOutcome' || name === 'policyUpdated' || name === 'dead';
  return z.strictObject({
    v: z.literal(1),
    turnId: turnless ? TurnId.nullable() : TurnId,
    tenant: Tenant,
    at: Timestamp,
    body: contracts[name].body,
  });
}

/** Subject that a message of `subject` is buried under. */
export const deadSubject = (subject: string): string => `rl.v1.dead.${subject}`;

/** The contract that a concrete subject belongs to, or `null`. */
export function contractOf(subject: string): ContractName | null {
  for (const [name, contract] of Object.entries(contracts) as [ContractName, Contract][]) {
    if (contract.subject === subject) return name;
    if (contract.subject.endsWith('.>') && subject.startsWith(contract.subject.slice(0, -1))) return name;
  }
  return null;
}

/** Durable consumer of an app on a subject: `<app>--<subject with dashes>`. */
export const durableName = (app: AppName, subject: string): string =>
  `${app}--${subject.replaceAll('.', '-').replaceAll('>', 'all')}`;

/** JetStream streams; subjects are listed one by one so that no query subject is ever stored. */
export const streams = {
  RL: Object.values(contracts)
    .filter((contract) => contract.stage !== 'dead')
    .map((contract) => contract.subject),
  RL_DEAD: [contracts.dead.subject],
} as const;

/** JetStream KV buckets. */
export const buckets = {
  /** turn id → binary capture (`encodeCapture`). */
  captures: 'captures',
  /** conversation key → open-turn record of the gateways. */
  openTurns: 'open-turns',
  /** Of the gateways: session id → marks of what was asked in it; `announced.<run>` → up to which number all turns of that run are announced. */
  sessionMemory: 'session-memory',
  /** turn id → `Feedback`. */
  feedback: 'feedback',
  /** turn id → the teacher's top-K log-probs (`encodeTopK`). */
  topK: 'top-k',
  /** `current` → `CurrentPolicy`, `trainer` → `TrainerSettings`, `rollback-request` → `RollbackWish`, `rollback-outcome` → `RollbackAnswer`. */
  policy: 'policy',
  /** `account` → what all judge services together spent within the last hour, by the minute. */
  judgeBudget: 'judge-budget',
} as const;
export type BucketName = keyof typeof buckets;
