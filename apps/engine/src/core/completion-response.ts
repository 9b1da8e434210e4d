import type { Choice, ChoiceStep, ResponseIdentity } from './chat-response';
import type { CompletionRequest } from './completion-request';
import { completionLogProbs, promptLogProbs } from './log-prob-shapes';
import type { TokenText } from './token-text';
import { usageOf } from './usage';

/** A prompt with its ids. */
export interface ReadPrompt {
  readonly ids: readonly number[];
  /** As it was sent, or the text of its ids. */
  readonly text: string;
}

/** The body of a `/v1/completions` answer, fields in vLLM's order. `choices[p · n + i]` is choice i of prompt p. */
export function completion(
  identity: ResponseIdentity,
  request: CompletionRequest,
  text: TokenText,
  prompts: readonly ReadPrompt[],
  choices: readonly Choice[],
): object {
  const promptOf = (index: number): ReadPrompt => prompts[Math.floor(index / request.n)]!;
  // Only the first choice of a prompt scored it.
  const scored = (index: number) => choices[index - (index % request.n)]!.promptScores;
  return {
    id: identity.id,
    object: 'text_completion',
    created: identity.created,
    model: identity.model,
    choices: choices.map((choice, index) => {
      const prompt = promptOf(index);
      return {
        index,
        text: request.echo ? prompt.text + choice.text : choice.text,
        logprobs:
          request.top === null
            ? null
            : completionLogProbs(
                text,
                [
                  ...(request.echo
                    ? prompt.ids.map((id, i) => ({ id, score: withTop(scored(index)?.[i - 1], request.top) }))
                    : []),
                  ...choice.scores.map((score) => ({ id: score.id, score })),
                ],
                request.tokensAsIds,
                0,
              ).shape,
        finish_reason: choice.finish.reason,
        stop_reason: choice.finish.stopReason,
        token_ids: request.wantsTokenIds ? choice.ids : null,
        prompt_logprobs:
          request.promptTop === null ? null : promptLogProbs(text, scored(index) ?? [], request.promptTop),
        prompt_token_ids: request.wantsTokenIds ? prompt.ids : null,
      };
    }),
    service_tier: null,
    system_fingerprint: null,
    usage: usageOf(
      prompts.reduce((sum, { ids }) => sum + ids.length, 0),
      choices.reduce((sum, { ids }) => sum + ids.length, 0),
    ),
    kv_transfer_params: null,
  };
}

/** The chunks of a streamed completion. One instance serves one response. */
export class CompletionChunks {
  private readonly offsets: number[] = [];

  constructor(
    private readonly identity: ResponseIdentity,
    private readonly request: CompletionRequest,
    private readonly text: TokenText,
    private readonly prompts: readonly ReadPrompt[],
  ) {}

  /** One token; the first of a choice carries the echo and the prompt's ids. */
  step({ index, id, text, score, finish }: ChoiceStep): object {
    const { request } = this;
    const prompt = this.prompts[Math.floor(index / request.n)]!;
    const isFirst = this.offsets[index] === undefined;
    const offset = this.offsets[index] ?? (request.echo ? prompt.text.length : 0);
    const logProbs = completionLogProbs(this.text, [{ id, score }], request.tokensAsIds, offset);
    this.offsets[index] = logProbs.endOffset;
    return this.chunk([
      {
        index,
        text: isFirst && request.echo ? prompt.text + text : text,
        logprobs: request.top === null ? null : logProbs.shape,
        finish_reason: finish?.reason ?? null,
        stop_reason: finish?.stopReason ?? null,
        prompt_token_ids: isFirst && request.wantsTokenIds ? prompt.ids : null,
        token_ids: request.wantsTokenIds ? [id] : null,
      },
    ]);
  }

  /** The only chunk of a choice without generated tokens (`max_tokens: 0`). */
  empty(index: number): object {
    const { request } = this;
    const prompt = this.prompts[Math.floor(index / request.n)]!;
    return this.chunk([
      {
        index,
        text: request.echo ? prompt.text : '',
        logprobs: null,
        finish_reason: 'length',
        stop_reason: null,
        prompt_token_ids: request.wantsTokenIds ? prompt.ids : null,
        token_ids: request.wantsTokenIds ? [] : null,
      },
    ]);
  }

  usage(completionTokens: number): object {
    const promptTokens = this.prompts.reduce((sum, { ids }) => sum + ids.length, 0);
    return { ...this.chunk([]), usage: usageOf(promptTokens, completionTokens) };
  }

  private chunk(choices: readonly object[]): object {
    const { id, created, model } = this.identity;
    return { id, object: 'text_completion', created, model, choices };
  }
}

function withTop<S extends { readonly top: readonly unknown[] }>(score: S | undefined, top: number | null): S | null {
  return score ? { ...score, top: score.top.slice(0, top ?? 0) } : null;
}
