import {
  gate,
  majorityScore,
  quorateScore,
  sessionRewards,
  type Decision as GateDecision,
  type GateRule,
  type SessionRewardRule,
  type StepScore,
} from '@hindcast/advantage';
import {
  Reward,
  encodeIds,
  encodeLogProbs,
  type Capture,
  type Feedback,
  type RewardSource,
  type Sample,
  type Score,
  type ScoredTurn,
  type UnhintedTurn,
} from '@hindcast/contracts';
import type { GateCase } from './turn';

export type JudgedTurn = UnhintedTurn | ScoredTurn;
export type FeedbackReward = 'override' | 'join';

/** The outcome of the turn's session, with the scores of all its steps that were known when the turn was decided. */
export interface KnownOutcome {
  /** In [−1, 1]. */
  readonly reward: number;
  readonly rule: SessionRewardRule;
  /** Oldest first. */
  readonly steps: readonly StepScore[];
  /** Which of the steps the turn is. */
  readonly index: number;
}

/** How a person's word and the recorded votes make a score. */
export type VoteCount = Pick<Circumstances, 'feedbackReward' | 'evalQuorum'>;

/** What the decision on a judged turn depends on besides the turn, its capture and what a person said of it. */
export interface Circumstances {
  readonly rule: GateRule;
  /** Largest sample that can be sent, bytes. */
  readonly maxSampleBytes: number;
  /** `null` where the at-least-one rule does not ask, or the turn has no session. */
  readonly sessionHasSample: boolean | null;
  /** A person's word replaces the votes, or is one more of them. */
  readonly feedbackReward: FeedbackReward;
  /** Readable votes needed where a person joins them, the person's included; with fewer the score is 0. */
  readonly evalQuorum: number;
  /** `expired`: it was waited for in vain; `null`: the turn waited for none. */
  readonly outcome: KnownOutcome | 'expired' | null;
}

/** The gate's verdict with its reason, and the sample that it lets through. */
export interface Decision {
  readonly case: GateCase;
  readonly reward: number | null;
  readonly reason: string | null;
  /** After feedback. */
  readonly evalScore: Score;
  readonly rewardSource: RewardSource;
  readonly sample: Sample | null;
}

/** Why a capture cannot be read: it is gone, or it is no capture. */
export type CaptureFailure = 'capture-missing' | 'capture-malformed';

interface Scored {
  readonly evalScore: Score;
  readonly reward: number;
  readonly rewardSource: RewardSource;
}

/** Whether the gate lets the turn through, so that its capture is worth reading. */
export const needsCapture = (turn: JudgedTurn, feedback: Feedback | null, circumstances: Circumstances): boolean =>
  gated(turn, rewarded(turn, feedback, circumstances), circumstances, null).keep;

/** Decides a judged turn. `capture` may be left out, as its failure, only when {@link needsCapture} says no. */
export function decide(
  turn: JudgedTurn,
  feedback: Feedback | null,
  circumstances: Circumstances,
  capture: Capture | CaptureFailure,
): Decision {
  const found = typeof capture === 'string' ? null : capture;
  const scored = rewarded(turn, feedback, circumstances);
  const verdict = gated(turn, scored, circumstances, found);
  const { evalScore, rewardSource } = scored;
  const drop = (reason: string): Decision => ({
    evalScore,
    rewardSource,
    case: 'drop',
    reward: null,
    reason,
    sample: null,
  });
  if (!verdict.keep) return drop(verdict.reason);
  if (!Reward.safeParse(verdict.reward).success) return drop('reward-out-of-range');
  if (typeof capture === 'string') return drop(capture);
  const sample = sampleOf(turn, verdict, scored, circumstances.rule, capture);
  if (sizeOf(sample) > circumstances.maxSampleBytes) return drop('too-large');
  const reason = verdict.reason ?? (circumstances.outcome === 'expired' ? 'outcome-expired' : null);
  return { evalScore, rewardSource, case: verdict.case, reward: verdict.reward, reason, sample };
}

/** The turn's own score after feedback. The recorded votes hold no person's, so that one who joins them is counted once. */
export function scoreOf(
  turn: JudgedTurn,
  feedback: Feedback | null,
  { feedbackReward, evalQuorum }: VoteCount,
): Pick<Scored, 'evalScore' | 'rewardSource'> {
  if (feedback === null) return { evalScore: turn.evalScore, rewardSource: turn.rewardSource };
  if (feedbackReward === 'override') return { evalScore: feedback.reward, rewardSource: 'feedback' };
  const verified = new Set(turn.verdicts.map((verdict) => verdict.score).filter((score) => score !== null));
  const voted = turn.evalVotes.map((vote) => vote.score);
  const evalScore =
    verified.size === 1
      ? majorityScore([...verified, feedback.reward])
      : quorateScore([...voted, feedback.reward], evalQuorum);
  return { evalScore, rewardSource: 'joined' };
}

/** The turn's score as a step of its session: `null` where nobody could read one, which is not the same as 0. */
export function stepScoreOf(turn: JudgedTurn, feedback: Feedback | null, count: VoteCount): StepScore {
  const { evalScore, rewardSource } = scoreOf(turn, feedback, count);
  const isUnread = rewardSource === 'votes' && turn.evalVotes.every((vote) => vote.score === null);
  return isUnread ? null : evalScore;
}

function rewarded(turn: JudgedTurn, feedback: Feedback | null, circumstances: Circumstances): Scored {
  const scored = scoreOf(turn, feedback, circumstances);
  const { outcome } = circumstances;
  if (outcome === null || outcome === 'expired') return { ...scored, reward: scored.evalScore };
  const rewards = sessionRewards(outcome.reward, outcome.steps, outcome.rule);
  return { evalScore: scored.evalScore, reward: rewards[outcome.index]!, rewardSource: 'outcome' };
}

function gated(
  turn: JudgedTurn,
  { reward }: Scored,
  { rule, sessionHasSample }: Circumstances,
  capture: Capture | null,
): GateDecision {
  const { policyVersion, guards } = turn;
  const hintAccepted = turn.hint !== null;
  return gate(
    { hintAccepted, reward, guards, teacher: teacherOf(turn, capture), policyVersion, sessionHasSample },
    rule,
  );
}

function teacherOf(turn: JudgedTurn, capture: Capture | null): string {
  if (!('teacher' in turn)) return 'none';
  if (!turn.teacher.ok) return turn.teacher.reason;
  return capture && turn.teacher.logProbs.length !== capture.responseIds.length ? 'length-mismatch' : 'ok';
}

function sampleOf(
  turn: JudgedTurn,
  verdict: GateDecision & { keep: true },
  { evalScore, rewardSource }: Scored,
  rule: GateRule,
  capture: Capture,
): Sample {
  const teacher = 'teacher' in turn && turn.teacher.ok && verdict.case !== 'rl' ? turn.teacher : null;
  return {
    sessionId: turn.sessionId,
    responseId: turn.responseId,
    policyVersion: turn.policyVersion,
    case: verdict.case,
    method: rule.method,
    reward: verdict.reward,
    rewardSource,
    promptIds: encodeIds(capture.promptIds),
    responseIds: encodeIds(capture.responseIds),
    rolloutLogProbs: encodeLogProbs(capture.rolloutLogProbs),
    teacherLogProbs: teacher?.logProbs ?? null,
    hint: turn.hint,
    evalScore,
    teacherModel: teacher?.model ?? null,
    topK: teacher?.topK ?? null,
  };
}

/** Envelope, keys and short texts, bytes; more than they ever need. */
const OVERHEAD_BYTES = 4_096;

function sizeOf(sample: Sample): number {
  const arrays = [sample.promptIds, sample.responseIds, sample.rolloutLogProbs, sample.teacherLogProbs];
  const base64 = arrays.reduce((bytes, array) => bytes + (array?.base64.length ?? 0), 0);
  // JSON escapes a character with at most six bytes.
  return OVERHEAD_BYTES + base64 + 6 * (sample.hint?.length ?? 0);
}
