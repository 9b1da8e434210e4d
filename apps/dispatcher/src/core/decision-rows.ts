import type { EvalVote, HintVote } from '@hindcast/contracts';
import { stepScoreOf, type Decision } from './decide';
import type { Recording } from './recording';

/** What the ledger keeps of a decision itself: verdict, votes, and the sample's numbers. */
export function decisionRows(
  { turnId, judged, feedback, circumstances }: Recording,
  tenant: string,
  decision: Decision,
) {
  const { sample } = decision;
  return {
    decisions: [
      {
        turnId,
        case: decision.case,
        reward: decision.reward,
        reason: decision.reason,
        method: circumstances.rule.method,
        evalScore: decision.evalScore,
        stepScore: stepScoreOf(judged, feedback, circumstances),
        hint: judged.hint,
        rewardSource: decision.rewardSource,
        judgeModel: judged.judgeModel,
        promptVersion: judged.promptVersion,
        judgeLatencyMs: judged.latencyMs,
        teacherModel: 'teacher' in judged ? judged.teacher.model : null,
        verdicts: judged.verdicts,
        guards: judged.guards,
        policyVersion: judged.policyVersion,
        currentVersion: circumstances.rule.currentVersion,
        person: feedback?.reward ?? null,
      },
    ],
    votes: [
      ...judged.evalVotes.map((vote, ordinal) => ({ ...keysOf(turnId, 'eval', ordinal), hint: null, ...part(vote) })),
      ...judged.hintVotes.map((vote, ordinal) => ({
        ...keysOf(turnId, 'hint', ordinal),
        hint: vote.hint,
        ...part(vote),
      })),
    ],
    samples: sample
      ? [
          {
            turnId,
            tenant,
            case: sample.case,
            reward: sample.reward,
            policyVersion: sample.policyVersion,
            promptTokens: sample.promptIds.length,
            responseTokens: sample.responseIds.length,
            state: 'ready' as const,
          },
        ]
      : [],
  };
}

const keysOf = <Kind extends 'eval' | 'hint'>(turnId: string, kind: Kind, ordinal: number) => ({
  turnId,
  kind,
  ordinal,
});

function part(vote: EvalVote | HintVote) {
  const { score, abstained, latencyMs, promptTokens, completionTokens, cost, promptVersion, raw } = vote;
  return { score, abstained, latencyMs, promptTokens, completionTokens, cost, promptVersion, raw };
}
