import type { Finish } from './answer';
import { chatLogProbs, promptLogProbs } from './log-prob-shapes';
import type { ChatRequest } from './chat-request';
import type { TokenScore } from './token-score';
import type { TokenText } from './token-text';
import { ToolCallReader, type ToolCall, type ToolDialect } from './tool-calls';
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

/** How calls of tools are read out of an answer's text. */
export interface ToolReading {
  readonly dialect: ToolDialect;
  /** A fresh id for one call. */
  readonly newCallId: () => string;
}

/** The body of a `/v1/chat/completions` answer, fields in vLLM's order. */
export function chatCompletion(
  identity: ResponseIdentity,
  request: ChatRequest,
  text: TokenText,
  promptIds: readonly number[],
  choices: readonly Choice[],
  tools: ToolReading | null,
): object {
  const completionTokens = choices.reduce((sum, { ids }) => sum + ids.length, 0);
  const promptScores = choices[0]?.promptScores ?? null;
  return {
    id: identity.id,
    object: 'chat.completion',
    created: identity.created,
    model: identity.model,
    choices: choices.map((choice, index) => chatChoice(request, text, choice, index, tools)),
    service_tier: null,
    system_fingerprint: null,
    usage: { ...usageOf(promptIds.length, completionTokens), prompt_tokens_details: null },
    prompt_logprobs:
      request.promptTop === null || !promptScores ? null : promptLogProbs(text, promptScores, request.promptTop),
    prompt_token_ids: request.wantsTokenIds ? promptIds : null,
    kv_transfer_params: null,
  };
}

function chatChoice(
  request: ChatRequest,
  text: TokenText,
  choice: Choice,
  index: number,
  tools: ToolReading | null,
): object {
  const reader = tools && new ToolCallReader(tools.dialect);
  const steps = reader ? [reader.push(choice.text), reader.end()] : [{ content: choice.text, calls: [] }];
  const content = steps.map((step) => step.content).join('');
  const calls = tools ? steps.flatMap((step) => step.calls).map((call) => toolCall(call, tools)) : [];
  return {
    index,
    message: {
      role: 'assistant',
      content: calls.length > 0 && content === '' ? null : content,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: calls,
      reasoning: null,
    },
    logprobs: request.top === null ? null : chatLogProbs(text, choice.scores, request.tokensAsIds),
    finish_reason: finishReason(choice.finish, calls.length > 0),
    stop_reason: choice.finish.stopReason,
    token_ids: request.wantsTokenIds ? choice.ids : null,
  };
}

function toolCall({ name, arguments: text }: ToolCall, { newCallId }: ToolReading): object {
  return { id: newCallId(), type: 'function', function: { name, arguments: text } };
}

/** An answer that was cut at its limit says so, whatever stands in it. */
function finishReason({ reason }: Finish, hasCalls: boolean): string {
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

/** The chunks of a streamed chat answer. One instance serves one response. */
export class ChatChunks {
  private readonly readers = new Map<number, { reader: ToolCallReader; callCount: number }>();

  constructor(
    private readonly identity: ResponseIdentity,
    private readonly request: ChatRequest,
    private readonly text: TokenText,
    private readonly promptIds: readonly number[],
    private readonly tools: ToolReading | null,
  ) {}

  /** Opens choice `index`. The first of all carries the prompt's ids. */
  role(index: number): object {
    const choice = { index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null };
    const promptIds = this.request.wantsTokenIds && index === 0 ? this.promptIds : null;
    return { ...this.chunk([choice]), prompt_token_ids: promptIds, ...this.running(0) };
  }

  /** One token, also one whose text is held back or belongs to a call. `completionTokens` counts all tokens of the response so far. */
  step({ index, id, text, score, finish }: ChoiceStep, completionTokens: number): object {
    const { delta, hasCalls } = this.delta(index, text, finish !== null);
    const choice = {
      index,
      delta,
      logprobs: this.request.top === null ? null : chatLogProbs(this.text, [score], this.request.tokensAsIds),
      finish_reason: finish && finishReason(finish, hasCalls),
      ...(finish && { stop_reason: finish.stopReason }),
      token_ids: this.request.wantsTokenIds ? [id] : null,
    };
    return { ...this.chunk([choice]), ...this.running(completionTokens) };
  }

  private delta(index: number, text: string, isLast: boolean): { delta: object; hasCalls: boolean } {
    const { tools } = this;
    if (!tools) return { delta: { content: text }, hasCalls: false };
    const state = this.readers.get(index) ?? { reader: new ToolCallReader(tools.dialect), callCount: 0 };
    this.readers.set(index, state);
    const { reader } = state;
    const steps = isLast ? [reader.push(text), reader.end()] : [reader.push(text)];
    const content = steps.map((step) => step.content).join('');
    const calls = steps
      .flatMap((step) => step.calls)
      .map((call) => ({ index: state.callCount++, ...toolCall(call, tools) }));
    return { delta: { content, ...(calls.length > 0 && { tool_calls: calls }) }, hasCalls: reader.hasCalls };
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
