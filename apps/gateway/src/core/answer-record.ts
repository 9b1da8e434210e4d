import type { Capture, CapturedTurn, Sampling, TraceContext } from '@hindcast/contracts';
import type { CompletedAnswer } from './answer';
import type { CaptureVerdict } from './capture-check';
import type { Dialect } from './engine-request';
import type { ChatRequest } from './request-check';

/** What is known of an answer before it begins. */
export interface AnswerContext {
  readonly turnId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  readonly userId: string | null;
  readonly outcomePending: boolean;
  readonly groundTruth: string | null;
  /** Id that the client gets instead of the engine's; `null`: the engine's. */
  readonly responseId: string | null;
  readonly request: ChatRequest;
  /** Model name that was sent to the engine. */
  readonly model: string;
  /** Version that answered; `null` when that cannot be told. */
  readonly policyVersion: number | null;
  /** Why it cannot: it was no model of ours, or the weights behind the name may have been replaced meanwhile. */
  readonly unknownVersion?: 'model' | 'weights';
  readonly dialect: Dialect;
  /** How the engine was told to sample; `null` when that cannot be read. */
  readonly sampling: Sampling | null;
  /** The body that the engine got. */
  readonly sentBody: Readonly<Record<string, unknown>>;
  /** Of the request; `null` where nothing is traced. */
  readonly trace?: TraceContext | null;
}

/** How one answer ended. */
export interface EndedTurn {
  readonly context: AnswerContext;
  readonly answer: CompletedAnswer;
  /** `failed`: it broke off; `malformed`: what the engine sent is no answer. */
  readonly outcome: 'complete' | 'failed' | 'malformed';
  readonly detail: string;
}

/** One that the engine had finished is complete, whatever became of the others. */
export const outcomeOf = ({ finishReason }: CompletedAnswer, outcome: EndedTurn['outcome']): EndedTurn['outcome'] =>
  outcome === 'failed' && finishReason !== null ? 'complete' : outcome;

/** The event of an answer. Counts are the engine's own, as far as it gave them. */
export function capturedTurn(
  context: AnswerContext,
  answer: CompletedAnswer,
  verdict: CaptureVerdict | null,
): CapturedTurn {
  return {
    responseId: responseIdOf(context, answer),
    sessionId: context.sessionId,
    // A foreign model has no version; its answer is untrainable and counts for none.
    policyVersion: context.policyVersion ?? 0,
    model: context.model,
    promptTokens: answer.promptIds?.length ?? answer.usage?.promptTokens ?? null,
    completionTokens: answer.responseIds?.length ?? ownCompletionTokens(answer),
    finishReason: answer.finishReason ?? 'none',
    untrainable: verdict && !verdict.trainable ? verdict.reason : null,
    userId: context.userId,
    outcomePending: context.outcomePending,
  };
}

/** Choice 0 has the response's id, the others `<id>:<index>`. An answer that broke before it named itself is known by its turn. */
export function responseIdOf(context: AnswerContext, { responseId, index }: CompletedAnswer): string {
  const id = context.responseId ?? responseId;
  if (id === null) return context.turnId;
  return index === 0 ? id : `${id}:${index}`;
}

/** Usage counts all choices together. */
const ownCompletionTokens = ({ usage, choices }: CompletedAnswer): number | null =>
  usage && choices === 1 ? usage.completionTokens : null;

/** The capture of a trainable answer; one whose version or sampling is not known is off-policy, hence not trainable. */
export function captureOf(
  context: AnswerContext,
  answer: CompletedAnswer,
  verdict: Extract<CaptureVerdict, { trainable: true }>,
  at: number,
): Capture {
  const { request } = context;
  return {
    header: {
      turnId: context.turnId,
      tenant: context.tenant,
      sessionId: context.sessionId,
      responseId: responseIdOf(context, answer),
      model: context.model,
      policyVersion: context.policyVersion!,
      dialect: context.dialect,
      messages: [...request.messages],
      tools: (request['tools'] as unknown[] | null | undefined) ?? null,
      templateArguments: (request['chat_template_kwargs'] as Record<string, unknown> | null | undefined) ?? null,
      answer: answer.message,
      sampling: context.sampling!,
      finishReason: answer.finishReason!,
      at,
    },
    promptIds: verdict.promptIds instanceof Int32Array ? verdict.promptIds : new Int32Array(verdict.promptIds),
    responseIds: new Int32Array(verdict.responseIds),
    rolloutLogProbs: new Float32Array(verdict.logProbs),
  };
}
