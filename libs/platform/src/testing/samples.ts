import { randomUUID } from 'node:crypto';
import { encodeIds, encodeLogProbs, type BodyOf } from '@hindcast/contracts';

/** A valid `sampleReady` message; `hint` is free for a test to tell its handler what to do. */
export function sampleMessage(
  hint: string | null = null,
  turnId: string = randomUUID(),
): { turnId: string; tenant: string; body: BodyOf<'sampleReady'> } {
  return {
    turnId,
    tenant: 'default',
    body: {
      sessionId: null,
      responseId: `response-${turnId}`,
      policyVersion: 3,
      case: 'rl',
      method: 'combine',
      reward: 1,
      rewardSource: 'votes',
      promptIds: encodeIds([1, 2]),
      responseIds: encodeIds([3]),
      rolloutLogProbs: encodeLogProbs([-0.5]),
      teacherLogProbs: null,
      hint,
      evalScore: 1,
      teacherModel: null,
      topK: null,
    },
  };
}
