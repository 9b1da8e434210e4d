import { z } from 'zod';
import { PolicyVersion, Score, SessionId, TextMessage } from './primitives';
import { EncodedLogProbs } from './typed-array';

/** Why an answer that was served cannot be trained on; `off-policy:` names its cause. */
export const UntrainableReason = z.union([
  z.enum([
    'no-token-ids',
    'no-prompt-ids',
    'no-log-probs',
    'length-mismatch',
    'non-finite-log-probs',
    'ambiguous-tokens',
    'prompt-mismatch',
    'too-large',
    'empty-answer',
    'malformed-stream',
    'content-filter',
    'truncated',
    'redacted',
  ]),
  z.templateLiteral(['off-policy:', z.string()]),
]);
export type UntrainableReason = z.infer<typeof UntrainableReason>;

/** The turn is not decided before its session's outcome is known (`rl.v1.session.outcome`) or has been waited for long enough. */
const OutcomePending = z.boolean().default(false);

/** `rl.v1.turn.captured`: ids and sizes of a capture, or the reason why the answer is untrainable. */
export const CapturedTurn = z.strictObject({
  responseId: z.string().min(1),
  sessionId: SessionId,
  policyVersion: PolicyVersion,
  model: z.string().min(1),
  /** `null` where the engine gave neither ids nor a count. */
  promptTokens: z.int().nonnegative().nullable(),
  completionTokens: z.int().nonnegative().nullable(),
  finishReason: z.string(),
  untrainable: UntrainableReason.nullable(),
  /** HMAC of tenant and the request's `user`, as a session id is made; `null` when the client named none. */
  userId: SessionId.default(null),
  outcomePending: OutcomePending,
});
export type CapturedTurn = z.infer<typeof CapturedTurn>;

/** `rl.v1.turn.closed`: a turn that ends unpaired. */
export const ClosedTurn = z.strictObject({
  reason: z.enum(['expired', 'superseded', 'failed', 'dropped-from-spool']),
  detail: z.string().max(1000).nullable(),
});
export type ClosedTurn = z.infer<typeof ClosedTurn>;

/** `rl.v1.turn.paired`: an answer with what came after it; the texts are bounded by the gateway. */
export const PairedTurn = z.strictObject({
  responseId: z.string().min(1),
  sessionId: SessionId,
  policyVersion: PolicyVersion,
  /** The end of the conversation that led to the answer, oldest first; the last one is what was answered. */
  conversation: z.array(TextMessage),
  /** The answer's text with its tool calls. */
  answer: z.string(),
  /** Every message after the answer, in order; empty when feedback alone closed the turn. */
  nextState: z.array(TextMessage),
  /** The length limit ended the answer. */
  truncated: z.boolean(),
  outcomePending: OutcomePending,
  /** What a verifier compares the answer with, as the client gave it. */
  groundTruth: z.string().max(10_000).nullable().default(null),
});
export type PairedTurn = z.infer<typeof PairedTurn>;

/** One judge reply. `score` is `null` when the vote abstains, with the reason in `abstained`. */
export const EvalVote = z.strictObject({
  score: Score.nullable(),
  abstained: z.enum(['unreadable', 'timeout', 'error', 'breaker-open']).nullable(),
  latencyMs: z.number().nonnegative(),
  promptTokens: z.int().nonnegative().nullable(),
  completionTokens: z.int().nonnegative().nullable(),
  /** By the judge's prices, in their currency; `null` where no price or no token count is known. */
  cost: z.number().nonnegative().nullable().default(null),
  /** Version of the prompt that was asked; `null` in judgements from before votes carried it. */
  promptVersion: z.string().nullable().default(null),
  raw: z.string(),
});
export type EvalVote = z.infer<typeof EvalVote>;
export const HintVote = EvalVote.extend({
  score: z.union([z.literal(-1), z.literal(1)]).nullable(),
  hint: z.string(),
});
export type HintVote = z.infer<typeof HintVote>;

/** What a person said of the answer through `/v1/feedback`. */
export const Feedback = z.strictObject({
  reward: Score,
  comment: z.string().max(10_000).nullable(),
  /** What the answer should have been; becomes the hint. */
  correction: z.string().max(10_000).nullable(),
  at: z.int().nonnegative(),
});
export type Feedback = z.infer<typeof Feedback>;

/** What a verifier, which asks no model, made of a turn; `score` is `null` when it abstains. */
export const Verdict = z.strictObject({
  verifier: z.string().min(1).max(100),
  score: Score.nullable(),
  /** Why: what it read, or why it abstains. */
  detail: z.string().max(1000),
});
export type Verdict = z.infer<typeof Verdict>;

const Judgement = z.strictObject({
  responseId: z.string().min(1),
  sessionId: SessionId,
  policyVersion: PolicyVersion,
  evalScore: Score,
  evalVotes: z.array(EvalVote),
  hintVotes: z.array(HintVote),
  /** Where the score came from; `joined`: feedback counted as one more vote. */
  rewardSource: z.enum(['votes', 'feedback', 'joined', 'verifier']),
  verdicts: z.array(Verdict).default([]),
  /** What the reward-hacking guards found in the answer, by name; a positive reward is not trained then. */
  guards: z.array(z.string().min(1).max(100)).default([]),
  judgeModel: z.string(),
  promptVersion: z.string(),
  /** From the first call to the decision, all votes together. */
  latencyMs: z.number().nonnegative(),
  truncated: z.boolean(),
  outcomePending: OutcomePending,
});

/** `rl.v1.turn.judged.hinted`: judged, with an accepted hint. */
export const HintedTurn = Judgement.extend({ hint: z.string().min(1) });
export type HintedTurn = z.infer<typeof HintedTurn>;
/** `rl.v1.turn.judged.unhinted`: judged, no hint accepted. */
export const UnhintedTurn = Judgement.extend({ hint: z.null() });
export type UnhintedTurn = z.infer<typeof UnhintedTurn>;

/** Why a hinted turn has no teacher log-probs. */
export const TeacherFailure = z.enum([
  'capture-missing',
  'template-mismatch',
  'vocabulary-mismatch',
  'length-mismatch',
  'non-finite',
  'ids-mismatch',
  'too-long',
  'refused-by-engine',
]);
export type TeacherFailure = z.infer<typeof TeacherFailure>;

/** `rl.v1.turn.scored`: the judged turn with log π_T of the very same sampled ids, or why there are none. */
export const ScoredTurn = HintedTurn.extend({
  teacher: z.discriminatedUnion('ok', [
    z.strictObject({
      ok: z.literal(true),
      model: z.string(),
      logProbs: EncodedLogProbs,
      /** K of the value in the bucket `top-k` (`encodeTopK`) under the turn id; `null` when none was asked for. */
      topK: z.int().positive().nullable().default(null),
    }),
    z.strictObject({ ok: z.literal(false), model: z.string(), reason: TeacherFailure, detail: z.string().max(1000) }),
  ]),
});
export type ScoredTurn = z.infer<typeof ScoredTurn>;
