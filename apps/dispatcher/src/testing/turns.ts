import {
  encodeLogProbs,
  type CapturedTurn,
  type Capture,
  type PairedTurn,
  type ScoredTurn,
  type UnhintedTurn,
} from '@hindcast/contracts';

const sessionId = '0123456789abcdef';
const responseId = 'chatcmpl-1';

/** A capture of four prompt and three sampled tokens. */
export function capture(turnId = '00000000-0000-4000-8000-000000000001', response = responseId): Capture {
  return {
    header: {
      turnId,
      tenant: 'acme',
      sessionId,
      responseId: response,
      model: 'seed',
      policyVersion: 3,
      dialect: 'vllm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: null,
      templateArguments: null,
      answer: { role: 'assistant', content: 'hello' },
      sampling: {
        temperature: 1,
        topP: 1,
        topK: null,
        minP: null,
        presencePenalty: 0,
        frequencyPenalty: 0,
        repetitionPenalty: null,
        seed: null,
      },
      finishReason: 'stop',
      at: 1,
    },
    promptIds: Int32Array.of(1, 2, 3, 4),
    responseIds: Int32Array.of(5, 6, 7),
    rolloutLogProbs: Float32Array.of(-0.1, -0.2, -0.3),
  };
}

export function capturedTurn(over: Partial<CapturedTurn> = {}): CapturedTurn {
  return {
    responseId,
    sessionId,
    policyVersion: 3,
    model: 'seed',
    promptTokens: 4,
    completionTokens: 3,
    finishReason: 'stop',
    untrainable: null,
    userId: null,
    outcomePending: false,
    ...over,
  };
}

export function pairedTurn(over: Partial<PairedTurn> = {}): PairedTurn {
  return {
    responseId,
    sessionId,
    policyVersion: 3,
    conversation: [{ role: 'user', text: 'hi', toolName: null }],
    answer: 'hello',
    nextState: [{ role: 'user', text: 'thanks', toolName: null }],
    truncated: false,
    outcomePending: false,
    groundTruth: null,
    ...over,
  };
}

const vote = {
  abstained: null,
  latencyMs: 12.5,
  promptTokens: 100,
  completionTokens: 7,
  cost: null,
  promptVersion: '1',
  raw: '\\boxed{1}',
};

export function unhintedTurn(over: Partial<UnhintedTurn> = {}): UnhintedTurn {
  return {
    responseId,
    sessionId,
    policyVersion: 3,
    evalScore: 1,
    evalVotes: [
      { ...vote, score: 1 },
      { ...vote, score: null, abstained: 'unreadable', raw: 'half a surrogate \ud800 and a NUL \0' },
    ],
    hintVotes: [{ ...vote, score: -1, hint: '' }],
    rewardSource: 'votes',
    verdicts: [],
    guards: [],
    judgeModel: 'demo-judge',
    promptVersion: '1',
    latencyMs: 40,
    truncated: false,
    outcomePending: false,
    hint: null,
    ...over,
  };
}

export function scoredTurn(over: Partial<ScoredTurn> = {}): ScoredTurn {
  return {
    ...unhintedTurn(),
    hint: 'Answer in one sentence.',
    teacher: { ok: true, model: 'seed', logProbs: encodeLogProbs([-0.05, -0.1, -0.2]), topK: null },
    ...over,
  };
}
