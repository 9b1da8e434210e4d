import { z } from 'zod';
import { PolicyVersion, Reward, Score, SessionId, Tenant, TextMessage, Timestamp, TurnId } from './primitives';
import { Method, RewardSource } from './sample';
import { TrainedSample } from './trained';
import { EvalVote, Feedback, Verdict } from './turn';
import { EncodedIds, EncodedLogProbs } from './typed-array';

/** Whose rows an answer may hold; `null`: everybody's, which only an administrator's gateway route may ask for. */
export const Scope = Tenant.nullable();

export const TurnState = z.enum(['open', 'paired', 'judged', 'decided', 'trained', 'closed']);
export type TurnState = z.infer<typeof TurnState>;

export const GateCase = z.enum(['opdRl', 'opd', 'rl', 'drop']);
export type GateCase = z.infer<typeof GateCase>;

/** Where the next page begins, as the page before said; opaque. */
export const Cursor = z.string().min(1).max(200);

/** What a list shows of a turn. */
export const TurnRow = z.strictObject({
  turnId: TurnId,
  responseId: z.string().nullable(),
  tenant: Tenant,
  sessionId: SessionId,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  state: TurnState,
  case: GateCase.nullable(),
  reason: z.string().nullable(),
  policyVersion: PolicyVersion.nullable(),
  model: z.string().nullable(),
  promptTokens: z.int().nonnegative().nullable(),
  completionTokens: z.int().nonnegative().nullable(),
  evalScore: Score.nullable(),
  reward: Reward.nullable(),
  hasHint: z.boolean(),
  trainedIn: PolicyVersion.nullable(),
  /** Start of what was answered, and of the answer; `null` where the ledger has no texts of the turn. */
  request: z.string().nullable(),
  answer: z.string().nullable(),
});
export type TurnRow = z.infer<typeof TurnRow>;

/** Turns, newest first. A filter that is `null` lets everything through. */
export const TurnsQuery = z.strictObject({
  tenant: Scope,
  state: TurnState.nullable().default(null),
  case: GateCase.nullable().default(null),
  /** A whole reason, or with a `*` at its end the start of one. */
  reason: z.string().min(1).max(200).nullable().default(null),
  sessionId: SessionId.default(null),
  policyVersion: PolicyVersion.nullable().default(null),
  /** Words that request, answer or next state hold, all of them, in any order. */
  text: z.string().min(1).max(200).nullable().default(null),
  before: Cursor.nullable().default(null),
  limit: z.int().min(1).max(200).default(50),
});
export type TurnsQuery = z.infer<typeof TurnsQuery>;

export const TurnsPage = z.strictObject({ turns: z.array(TurnRow), next: Cursor.nullable() });
export type TurnsPage = z.infer<typeof TurnsPage>;

/** One reply of the judge model, as the ledger keeps it. */
export const LedgerVote = EvalVote.extend({
  kind: z.enum(['eval', 'hint']),
  ordinal: z.int().nonnegative(),
  hint: z.string().nullable(),
});
export type LedgerVote = z.infer<typeof LedgerVote>;

/** The gate's verdict with what it came from. */
export const LedgerDecision = z.strictObject({
  case: GateCase,
  reward: Reward.nullable(),
  reason: z.string().nullable(),
  method: Method.nullable(),
  evalScore: Score.nullable(),
  hint: z.string().nullable(),
  rewardSource: RewardSource.nullable(),
  judgeModel: z.string().nullable(),
  promptVersion: z.string().nullable(),
  judgeLatencyMs: z.number().nonnegative().nullable(),
  teacherModel: z.string().nullable(),
  verdicts: z.array(Verdict),
  guards: z.array(z.string()),
  /** Version that sampled the answer, and the newest one when it was decided. */
  policyVersion: PolicyVersion.nullable(),
  currentVersion: PolicyVersion.nullable(),
  at: Timestamp,
});
export type LedgerDecision = z.infer<typeof LedgerDecision>;

/** The sampled tokens, `[R]` each. */
export const TurnTokens = z.strictObject({
  ids: EncodedIds,
  rollout: EncodedLogProbs,
  /** log π_T; `null` when there is no teacher. */
  teacher: EncodedLogProbs.nullable(),
});
export type TurnTokens = z.infer<typeof TurnTokens>;

/** Everything that the ledger knows of a turn. */
export const TurnDetail = z.strictObject({
  turn: TurnRow,
  /** What the judge saw: the end of the conversation, the answer and what followed; `null` where the texts are not kept (any more). */
  conversation: z.array(TextMessage).nullable(),
  answer: z.string().nullable(),
  nextState: z.array(TextMessage).nullable(),
  votes: z.array(LedgerVote),
  decision: LedgerDecision.nullable(),
  feedback: Feedback.nullable(),
  /** `null` where no recording is kept. */
  tokens: TurnTokens.nullable(),
  /** What the step made of it; `null` until it is trained. */
  trained: TrainedSample.nullable(),
  /** More on why it was closed or refused. */
  detail: z.string().nullable(),
});
export type TurnDetail = z.infer<typeof TurnDetail>;

export const TurnDetailQuery = z.strictObject({ tenant: Scope, id: z.string().min(1).max(200) });
export type TurnDetailQuery = z.infer<typeof TurnDetailQuery>;

export const TurnDetailAnswer = z.discriminatedUnion('found', [
  z.strictObject({ found: z.literal(true), detail: TurnDetail }),
  z.strictObject({ found: z.literal(false) }),
]);
export type TurnDetailAnswer = z.infer<typeof TurnDetailAnswer>;
