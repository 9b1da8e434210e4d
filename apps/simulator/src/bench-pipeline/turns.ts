import { encodeCapture, type BodyOf, type CaptureHeader } from '@hindcast/contracts';
import { randomUUID } from 'node:crypto';

/** Tokens of a turn: a prompt and an answer as agents have them. */
export const PROMPT_TOKENS = 1_536;
export const RESPONSE_TOKENS = 512;
/** Characters of a token in English, roughly: the texts are as long as their ids say. */
const CHARACTERS_PER_TOKEN = 4;

const QUESTION = textOf(PROMPT_TOKENS, 'How would you set this up so that it stays easy to change later? ');
const ANSWER = textOf(RESPONSE_TOKENS, 'First decide what may change, then keep that in one place. ');
const REACTION = 'That is too long, please answer in one sentence next time.';

export const promptIds = Int32Array.from({ length: PROMPT_TOKENS }, (_, i) => 1_000 + ((i * 7_919) % 30_000));
export const responseIds = Int32Array.from({ length: RESPONSE_TOKENS }, (_, i) => 1_000 + ((i * 104_729) % 30_000));
const rolloutLogProbs = Float32Array.from(responseIds, (id) => -0.01 - (id % 64) / 64);

/** One paired turn as the gateway leaves it: the capture in its bucket, two messages. */
export interface PairedTurn {
  readonly turnId: string;
  readonly capture: Uint8Array;
  readonly captured: BodyOf<'turnCaptured'>;
  readonly paired: BodyOf<'turnPaired'>;
}

/** A turn of about 2,000 tokens whose answer the user did not like. */
export function pairedTurn(): PairedTurn {
  const turnId = randomUUID();
  const answered = { responseId: `chatcmpl-${turnId}`, sessionId: null, policyVersion: 0 };
  const header: CaptureHeader = {
    ...answered,
    turnId,
    tenant: 'default',
    model: 'seed',
    dialect: 'vllm',
    messages: [{ role: 'user', content: QUESTION }],
    tools: null,
    templateArguments: null,
    answer: { role: 'assistant', content: ANSWER },
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
    at: Date.now(),
  };
  return {
    turnId,
    capture: encodeCapture({ header, promptIds, responseIds, rolloutLogProbs }),
    captured: {
      ...answered,
      model: 'seed',
      promptTokens: PROMPT_TOKENS,
      completionTokens: RESPONSE_TOKENS,
      finishReason: 'stop',
      untrainable: null,
      userId: null,
      outcomePending: false,
    },
    paired: {
      ...answered,
      conversation: [{ role: 'user', text: QUESTION, toolName: null }],
      answer: ANSWER,
      nextState: [{ role: 'user', text: REACTION, toolName: null }],
      truncated: false,
      outcomePending: false,
      groundTruth: null,
    },
  };
}

function textOf(tokens: number, sentence: string): string {
  const length = tokens * CHARACTERS_PER_TOKEN;
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length);
}
