import type { ContractName, MessageOf } from '../registry';
import type { Sample } from '../sample';
import type { UnhintedTurn } from '../turn';
import { encodeIds, encodeLogProbs, encodeNumbers } from '../typed-array';

const turnId = '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1';
const envelope = { v: 1, turnId, tenant: 'default', at: 1_796_000_000_000 } as const;
const answered = { responseId: 'chatcmpl-1', sessionId: '0123456789abcdef', policyVersion: 3 };
const vote = {
  score: 1,
  abstained: null,
  latencyMs: 12.5,
  promptTokens: 210,
  completionTokens: 9,
  cost: 0.0004,
  promptVersion: 'eval-v1',
  raw: '\\boxed{1}',
} as const;
const judgement: Omit<UnhintedTurn, 'hint'> = {
  ...answered,
  evalScore: 1,
  evalVotes: [
    vote,
    { ...vote, score: null, abstained: 'timeout', promptTokens: null, completionTokens: null, raw: '' },
  ],
  hintVotes: [{ ...vote, hint: 'Answer in one sentence.' }],
  rewardSource: 'votes',
  verdicts: [{ verifier: 'exit-code', score: null, detail: 'no tool result' }],
  guards: [],
  judgeModel: 'judge',
  promptVersion: '1',
  latencyMs: 40,
  truncated: false,
  outcomePending: false,
};
const hinted = { ...judgement, hint: 'Answer in one sentence.' };

const sample: Sample = {
  ...answered,
  case: 'opdRl',
  method: 'combine',
  reward: 1,
  rewardSource: 'votes',
  promptIds: encodeIds([1, 5, 9]),
  responseIds: encodeIds([4, 2]),
  rolloutLogProbs: encodeLogProbs([-0.25, -1.5]),
  teacherLogProbs: encodeLogProbs([-0.125, -2]),
  hint: hinted.hint,
  evalScore: 1,
  teacherModel: 'seed',
  topK: null,
};

type Break = (message: Record<string, unknown>) => unknown;

/** For every subject: a message as it is on the wire, and ways to break it. */
export const golden: {
  readonly [N in ContractName]: { readonly message: MessageOf<N>; readonly twins: Record<string, Break> };
} = {
  turnCaptured: {
    message: {
      ...envelope,
      body: {
        ...answered,
        model: 'seed',
        promptTokens: 12,
        completionTokens: 4,
        finishReason: 'stop',
        untrainable: null,
        userId: null,
        outcomePending: false,
      },
    },
    twins: {
      'a reason that no one knows': body({ untrainable: 'tired' }),
      'half a token': body({ completionTokens: 1.5 }),
      'a count left out, which is not the same as none': body({ completionTokens: undefined }),
      'a raw session id': body({ sessionId: 'alice' }),
    },
  },
  turnClosed: {
    message: { ...envelope, body: { reason: 'expired', detail: null } },
    twins: { 'no reason': body({ reason: undefined }) },
  },
  turnPaired: {
    message: {
      ...envelope,
      body: {
        ...answered,
        conversation: [{ role: 'user', text: 'What is the capital of France?', toolName: null }],
        answer: 'Paris.',
        nextState: [{ role: 'tool', text: '{"ok":true}', toolName: 'look_up' }],
        truncated: false,
        outcomePending: true,
        groundTruth: '42',
      },
    },
    twins: {
      'a role that no one knows': body({ nextState: [{ role: 'oracle', text: '', toolName: null }] }),
      'no answer': body({ answer: null }),
    },
  },
  sessionOutcome: {
    message: { ...envelope, turnId: null, body: { sessionId: answered.sessionId, reward: -0.5, comment: null } },
    twins: {
      'no session': body({ sessionId: null }),
      'more than a full success': body({ reward: 1.5 }),
      'no number': body({ reward: null }),
    },
  },
  turnHinted: {
    message: { ...envelope, body: hinted },
    twins: {
      'no hint': body({ hint: null }),
      'an empty hint': body({ hint: '' }),
      'a score between': body({ evalScore: 0.5 }),
    },
  },
  turnUnhinted: {
    message: { ...envelope, body: { ...judgement, hint: null } },
    twins: { 'a hint': body({ hint: 'x' }), 'no score': body({ evalScore: null }) },
  },
  turnScored: {
    message: {
      ...envelope,
      body: { ...hinted, teacher: { ok: true, model: 'seed', logProbs: encodeLogProbs([-0.125, -2]), topK: null } },
    },
    twins: {
      'no log-probs': body({ teacher: { ok: true, model: 'seed' } }),
      'log-probs as JSON numbers': body({ teacher: { ok: true, model: 'seed', logProbs: [-0.125, -2] } }),
      'a failure without a reason': body({ teacher: { ok: false, model: 'seed', detail: '' } }),
    },
  },
  sampleReady: {
    message: { ...envelope, body: sample },
    twins: {
      'fewer log-probs than ids': body({ rolloutLogProbs: encodeLogProbs([-1]) }),
      'more teacher log-probs than ids': body({ teacherLogProbs: encodeLogProbs([-1, -1, -1]) }),
      'a teacher signal without log-probs': body({ teacherLogProbs: null }),
      'an RL sample with a teacher': body({ case: 'rl' }),
      'an OPD sample with a reward': body({ case: 'opd' }),
      'a reward of nothing that combine would not keep': body({ reward: 0 }),
      'a reward without a number': body({ reward: null }),
      'no answer': body({
        responseIds: encodeIds([]),
        rolloutLogProbs: encodeLogProbs([]),
        teacherLogProbs: encodeLogProbs([]),
      }),
      'NaN on the wire': body({
        rolloutLogProbs: { dtype: 'float32', length: 2, base64: float32([-0.5, Number.NaN]) },
      }),
      'null for a number': body({ policyVersion: null }),
    },
  },
  sampleRefused: {
    message: { ...envelope, body: { reason: 'stale', detail: 'lag 5', policyVersion: 9 } },
    twins: { 'no detail': body({ detail: null }) },
  },
  sampleTrained: {
    message: {
      ...envelope,
      body: {
        version: 4,
        advantages: encodeNumbers([0.2, -1.5]),
        oldLogProbs: encodeLogProbs([-0.5, -2]),
        newLogProbs: encodeLogProbs([-0.25, -2.5]),
        clipEpsilonLow: 0.2,
        clipEpsilonHigh: 0.28,
      },
    },
    twins: {
      'the base model, which no step made': body({ version: 0 }),
      'fewer advantages than log-probs': body({ advantages: encodeNumbers([1]) }),
      'more new log-probs than old ones': body({ newLogProbs: encodeLogProbs([-1, -1, -1]) }),
      'advantages as JSON numbers': body({ advantages: [0.2, -1.5] }),
      'an advantage that is not finite': body({
        advantages: { dtype: 'float32', length: 2, base64: float32([Number.NaN, 1]) },
      }),
    },
  },
  policyUpdated: {
    message: {
      ...envelope,
      turnId: null,
      body: {
        version: 4,
        parent: 3,
        state: 'published',
        reason: null,
        turnIds: [turnId],
        adapter: 'hindcast-v000004',
        adapterDir: '/policies/v000004',
        metrics: { 'loss/policy': -0.5, clip_fraction: 0 },
      },
    },
    twins: {
      'version 0': body({ version: 0 }),
      'no turns': body({ turnIds: [] }),
      'a metric that is not finite, as JSON has it': body({ metrics: { 'loss/policy': null } }),
    },
  },
  dead: {
    message: {
      ...envelope,
      turnId: null,
      body: {
        subject: 'rl.v1.turn.paired',
        consumer: 'judge-svc--rl-v1-turn-paired',
        code: 'contract-violation',
        error: 'not JSON',
        deliveries: 1,
        messageId: null,
        payload: 'eyJ2Ijo=',
      },
    },
    twins: { 'a payload that is not base64': body({ payload: '{"v":' }), 'no delivery': body({ deliveries: 0 }) },
  },
};

function body(change: Record<string, unknown>): Break {
  return (message) => ({ ...message, body: { ...(message['body'] as object), ...change } });
}

/** base64 of the bytes, without the checks of `encodeLogProbs`. */
export function float32(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64');
}
