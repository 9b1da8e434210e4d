import type { Finish } from './answer';
import { chatLogProbs, promptLogProbs } from './log-prob-shapes';
import type { ChatRequest } from './chat-request';
import type { TokenScore } from './token-score';
import type { TokenText } from './token-text';
import { usageOf, type Usage } from './usage';

/** What identifies one response. `created` is seconds since 1970. */
export interface ResponseIdentity {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** One finished choice. */
export interface Choice {
  readonly text: string;
  readonly ids: readonly number[];
  readonly scores: readonly TokenScore[];
  readonly finish: Finish;
  /** Of the prompt's second token and on; null when not asked for. */
  readonly promptScores: readonly TokenScore[] | null;
}

/** One generated token of a choice, as it is streamed. */
export interface ChoiceStep {
  readonly index: number;
  readonly id: number;
  readonly text: string;
  readonly score: TokenScore;
  readonly finish: Finish | null;
}

/** The body of a `/v1/chat/completions` answer, fields in vLLM's order. */
export function chatCompletion(
  identity: ResponseIdentity,
  request: ChatRequest,
  text: TokenText,
  promptIds: readonly number[],
  choices: readonly Choice[],
): object {
  const completionTokens = choices.reduce((sum, { ids }) => sum + ids.length, 0);
  const promptScores = choices[0]?.promptScores ?? null;
  return {
    id: identity.id,
    object: 'chat.completion',
    created: identity.created,
    model: identity.model,
    choices: choices.map((choice, index) => ({
      index,
      message: {
        role: 'assistant',
        content: choice.text,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        tool_calls: [],
        reasoning: null,
      },
      logprobs: request.top === null ? null : chatLogProbs(text, choice.scores, request.tokensAsIds),
      finish_reason: choice.finish.reason,
      stop_reason: choice.finish.stopReason,
      token_ids: request.wantsTokenIds ? choice.ids : null,
    })),
    service_tier: null,
    system_fingerprint: null,
    usage: { ...usageOf(promptIds.length, completionTokens), prompt_tokens_details: null },
    prompt_logprobs:
      request.promptTop === null || !promptScores ? null : promptLogProbs(text, promptScores, request.promptTop),
    prompt_token_ids: request.wantsTokenIds ? promptIds : null,
    kv_transfer_params: null,
  };
}

/** The chunks of a streamed chat answer. One instance serves one response. */
export class ChatChunks {
  constructor(
    private readonly identity: ResponseIdentity,
    private readonly request: ChatRequest,
    private readonly text: TokenText,
    private readonly promptIds: readonly number[],
  ) {}

  /** Opens choice `index`. The first of all carries the prompt's ids. */
  role(index: number): object {
    const choice = { index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null };
    const promptIds = this.request.wantsTokenIds && index === 0 ? this.promptIds : null;
    return { ...this.chunk([choice]), prompt_token_ids: promptIds, ...this.running(0) };
  }

  /** One token. `completionTokens` counts all tokens of the response so far. */
  step({ index, id, text, score, finish }: ChoiceStep, completionTokens: number): object {
    const choice = {
      index,
      delta: { content: text },
      logprobs: this.request.top === null ? null : chatLogProbs(this.text, [score], this.request.tokensAsIds),
      finish_reason: finish?.reason ?? null,
      ...(finish && { stop_reason: finish.stopReason }),
      token_ids: this.request.wantsTokenIds ? [id] : null,
    };
    return { ...this.chunk([choice]), ...this.running(completionTokens) };
  }

  usage(completionTokens: number): object {
    return { ...this.chunk([]), usage: usageOf(this.promptIds.length, completionTokens) };
  }

  private chunk(choices: readonly object[]): object {
    const { id, created, model } = this.identity;
    return { id, object: 'chat.completion.chunk', created, model, choices };
  }

  private running(completionTokens: number): { usage?: Usage } {
    return this.request.stream?.continuousUsage ? { usage: usageOf(this.promptIds.length, completionTokens) } : {};
  }
}
