import { majorityScore, quorateScore, selectHint } from '@hindcast/advantage';
import type { BodyOf, EvalVote, Feedback, HintVote, Score, Verdict } from '@hindcast/contracts';

/** Votes to ask for. */
export interface VotePlan {
  readonly evalVotes: number;
  readonly hintVotes: number;
}

/** What is known of a turn before a judge is asked. */
export interface Evidence {
  /** What a person said. */
  readonly feedback: Feedback | null;
  /** What verifiers, which ask no model, say. */
  readonly verdicts: readonly Verdict[];
  /** A person's reward decides alone, or is one more vote. */
  readonly feedbackReward: 'override' | 'join';
}

/**
 * How many votes a turn needs. A verifier's score, and a person's reward that overrides, take the place of the eval votes, a person's
 * correction that of the hint votes; without a next state there is nothing that a judge could read.
 */
export function planVotes(
  nextStateMessages: number,
  { feedback, verdicts, feedbackReward }: Evidence,
  votes: VotePlan,
): VotePlan {
  if (nextStateMessages === 0) return { evalVotes: 0, hintVotes: 0 };
  const scored = (feedback !== null && feedbackReward === 'override') || verifiedScore(verdicts) !== null;
  return {
    evalVotes: scored ? 0 : votes.evalVotes,
    hintVotes: correctionOf(feedback) === null ? votes.hintVotes : 0,
  };
}

/** The score that all verifiers which do not abstain give; `null` when they disagree, or all abstain. */
export function verifiedScore(verdicts: readonly Verdict[]): Score | null {
  const scores = new Set(verdicts.map((verdict) => verdict.score).filter((score) => score !== null));
  return scores.size === 1 ? [...scores][0]! : null;
}

type PairedTurn = BodyOf<'turnPaired'>;
export type Judgement = BodyOf<'turnHinted'> | BodyOf<'turnUnhinted'>;

export interface Votes {
  readonly evalVotes: readonly EvalVote[];
  readonly hintVotes: readonly HintVote[];
}

export interface JudgementRule {
  readonly hintAcceptance: 'any' | 'majority';
  /** Readable eval votes needed, a person's that joins them included; with fewer the score is 0. */
  readonly evalQuorum: number;
  /** Readable hint votes needed; with fewer no hint is accepted. */
  readonly hintQuorum: number;
}

/** The judgement that follows from the votes that came and from what was known without them. */
export function judgement(
  turn: PairedTurn,
  votes: Votes,
  evidence: Evidence,
  rule: JudgementRule,
  provenance: {
    readonly guards: readonly string[];
    readonly judgeModel: string;
    readonly promptVersion: string;
    readonly latencyMs: number;
  },
): Judgement {
  const { score, source } = rewardOf(votes.evalVotes, evidence, rule.evalQuorum);
  const shared = {
    responseId: turn.responseId,
    sessionId: turn.sessionId,
    policyVersion: turn.policyVersion,
    evalScore: score,
    evalVotes: [...votes.evalVotes],
    hintVotes: [...votes.hintVotes],
    rewardSource: source,
    verdicts: [...evidence.verdicts],
    guards: [...provenance.guards],
    judgeModel: provenance.judgeModel,
    promptVersion: provenance.promptVersion,
    latencyMs: provenance.latencyMs,
    truncated: turn.truncated,
    outcomePending: turn.outcomePending,
  };
  const hint = correctionOf(evidence.feedback) ?? votedHint(votes.hintVotes, rule);
  return hint === null ? { ...shared, hint } : { ...shared, hint };
}

function rewardOf(
  evalVotes: readonly EvalVote[],
  { feedback, verdicts, feedbackReward }: Evidence,
  quorum: number,
): { score: Score; source: Judgement['rewardSource'] } {
  if (feedback && feedbackReward === 'override') return { score: feedback.reward, source: 'feedback' };
  const verified = verifiedScore(verdicts);
  const voted = evalVotes.map((vote) => vote.score);
  if (feedback) {
    const scores = verified === null ? [...voted, feedback.reward] : [verified, feedback.reward];
    return { score: verified === null ? quorateScore(scores, quorum) : majorityScore(scores), source: 'joined' };
  }
  return verified === null
    ? { score: quorateScore(voted, quorum), source: 'votes' }
    : { score: verified, source: 'verifier' };
}

function votedHint(votes: readonly HintVote[], rule: JudgementRule): string | null {
  if (votes.filter((vote) => vote.score !== null).length < rule.hintQuorum) return null;
  return selectHint(votes, rule.hintAcceptance);
}

/** A person's correction is a hint when it would pass as one. */
const correctionOf = (feedback: Feedback | null): string | null =>
  feedback?.correction ? selectHint([{ score: 1, hint: feedback.correction }]) : null;
