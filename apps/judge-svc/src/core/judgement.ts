import { majorityScore, selectHint } from '@hindcast/advantage';
import type { BodyOf, EvalVote, Feedback, HintVote } from '@hindcast/contracts';

/** Votes to ask for, given what a person already said. */
export interface VotePlan {
  readonly evalVotes: number;
  readonly hintVotes: number;
}

/**
 * How many votes a turn needs. A person's reward replaces the eval votes and a person's correction the hint votes; without a next
 * state there is nothing that a judge could read.
 */
export function planVotes(nextStateMessages: number, feedback: Feedback | null, votes: VotePlan): VotePlan {
  if (nextStateMessages === 0) return { evalVotes: 0, hintVotes: 0 };
  return {
    evalVotes: feedback ? 0 : votes.evalVotes,
    hintVotes: correctionOf(feedback) === null ? votes.hintVotes : 0,
  };
}

type PairedTurn = BodyOf<'turnPaired'>;
export type Judgement = BodyOf<'turnHinted'> | BodyOf<'turnUnhinted'>;

/** The judgement that follows from the votes that came; feedback, where there is some, decides reward and hint. */
export function judgement(
  turn: PairedTurn,
  votes: { readonly evalVotes: readonly EvalVote[]; readonly hintVotes: readonly HintVote[] },
  feedback: Feedback | null,
  settings: {
    readonly hintAcceptance: 'any' | 'majority';
    readonly quorum: number;
    readonly judgeModel: string;
    readonly promptVersion: string;
    readonly latencyMs: number;
  },
): Judgement {
  const readable = votes.evalVotes.filter((vote) => vote.score !== null).length;
  const votedScore = readable >= settings.quorum ? majorityScore(votes.evalVotes.map((vote) => vote.score)) : 0;
  const shared = {
    responseId: turn.responseId,
    sessionId: turn.sessionId,
    policyVersion: turn.policyVersion,
    evalScore: feedback ? feedback.reward : votedScore,
    evalVotes: [...votes.evalVotes],
    hintVotes: [...votes.hintVotes],
    rewardSource: feedback ? ('feedback' as const) : ('votes' as const),
    verdicts: [],
    guards: [],
    judgeModel: settings.judgeModel,
    promptVersion: settings.promptVersion,
    latencyMs: settings.latencyMs,
    truncated: turn.truncated,
    outcomePending: turn.outcomePending,
  };
  const hint = correctionOf(feedback) ?? selectHint(votes.hintVotes, settings.hintAcceptance);
  return hint === null ? { ...shared, hint } : { ...shared, hint };
}

/** A person's correction is a hint when it would pass as one. */
const correctionOf = (feedback: Feedback | null): string | null =>
  feedback?.correction ? selectHint([{ score: 1, hint: feedback.correction }]) : null;
