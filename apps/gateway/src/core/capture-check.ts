import type { UntrainableReason } from '@hindcast/contracts';
import { hasSubstance, type CompletedAnswer } from './answer';
import type { Numbers } from './token-ids';

/** Engines clamp −∞ to this in their JSON (vLLM #11073); a sampled token never has it. Nats. */
const CLAMPED_MINUS_INFINITY = -9999;
/** A float32 log-softmax can exceed 0 by rounding; more than this is not a log-probability. Nats. */
const LOG_PROB_ROUNDING = 1e-3;

/**
 * Finish reasons of an answer that its model ended: OpenAI's, and `eos_token` and `stop_sequence`, which Text Generation Inference
 * wrote before 2.3 (huggingface/text-generation-inference #2344).
 */
const ENDED_BY_MODEL: ReadonlySet<string> = new Set([
  'stop',
  'tool_calls',
  'function_call',
  'eos_token',
  'stop_sequence',
]);

export type CaptureVerdict =
  | {
      readonly trainable: true;
      readonly promptIds: Numbers;
      readonly responseIds: readonly number[];
      readonly logProbs: readonly number[];
    }
  | { readonly trainable: false; readonly reason: UntrainableReason; readonly detail: string };

export const refuseCapture = (
  reason: UntrainableReason,
  detail: string,
): Extract<CaptureVerdict, { trainable: false }> => ({ trainable: false, reason, detail });
const isSame = (a: readonly number[], b: Numbers): boolean =>
  a.length === b.length && a.every((id, index) => id === b[index]);

/** Token ids, each an int32 ≥ 0. */
function areIds(numbers: Numbers): boolean {
  // Read digit by digit, without a sign; the capture's contract looks through them once more.
  if (numbers instanceof Int32Array) return true;
  return numbers.every((id) => Number.isInteger(id) && id >= 0 && id <= 0x7fffffff);
}

/**
 * Whether the answer is exact enough to train on: the engine's ids, the engine's log-probs of those ids, equal lengths, all
 * finite, complete (usage counts all choices; an answer that the length limit ended is `truncated`). Nothing is repaired. The first reason in this order is given; `offPolicy` comes last.
 *
 * @param sentPromptIds the prompt where the request gave it as ids, as SGLang's `input_ids`: an engine may decode and encode it anew
 */
export function checkCapture(
  answer: CompletedAnswer,
  offPolicy: string | null,
  sentPromptIds: readonly number[] | null = null,
): CaptureVerdict {
  const { promptIds, responseIds, logProbs, usage, sampledIds } = answer;
  if (answer.fault !== undefined) return refuseCapture('malformed-stream', answer.fault);
  if (answer.finishReason === null) return refuseCapture('malformed-stream', 'no finish_reason');
  if (answer.finishReason === 'content_filter') return refuseCapture('content-filter', 'finish_reason content_filter');
  // A reason that nobody knows may say that something cut the answer short.
  if (answer.finishReason !== 'length' && !ENDED_BY_MODEL.has(answer.finishReason))
    return refuseCapture('malformed-stream', `finish_reason ${JSON.stringify(answer.finishReason.slice(0, 40))}`);
  const { content } = answer.message;
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content))
    return refuseCapture('malformed-stream', `the content is a ${typeof content}`);
  if (!hasSubstance(answer.message) && (responseIds?.length ?? 0) === 0)
    return refuseCapture('empty-answer', 'no text and no ids');
  if (answer.refusal) return refuseCapture(answer.refusal.reason, answer.refusal.detail);
  if (!responseIds || responseIds.length === 0)
    return refuseCapture('no-token-ids', 'the engine gave no ids of the answer');
  if (!areIds(responseIds)) return refuseCapture('no-token-ids', 'an id of the answer is not a token id');
  if (!promptIds || promptIds.length === 0 || !areIds(promptIds))
    return refuseCapture('no-prompt-ids', 'the engine gave no prompt ids');
  if (!logProbs || logProbs.length === 0) return refuseCapture('no-log-probs', 'the engine gave no log-probs');
  if (logProbs.length !== responseIds.length)
    return refuseCapture('length-mismatch', `${responseIds.length} ids, ${logProbs.length} log-probs`);
  // Only its own count shows that no event of the stream was lost.
  if (!usage) return refuseCapture('length-mismatch', 'the engine gave no usage to count the ids by');
  if (usage.completionTokens !== sampledIds) {
    const given = sampledIds === null ? 'not all choices have ids' : `${sampledIds} ids`;
    return refuseCapture('length-mismatch', `${given}, usage says ${usage.completionTokens}`);
  }
  if (usage.promptTokens !== promptIds.length) {
    return refuseCapture('prompt-mismatch', `${promptIds.length} prompt ids, usage says ${usage.promptTokens}`);
  }
  if (sentPromptIds && !isSame(sentPromptIds, promptIds)) {
    return refuseCapture(
      'prompt-mismatch',
      `${promptIds.length} prompt ids, other than the ${sentPromptIds.length} sent`,
    );
  }
  const bad = logProbs.findIndex(
    (logProb) => !Number.isFinite(logProb) || logProb <= CLAMPED_MINUS_INFINITY || logProb > LOG_PROB_ROUNDING,
  );
  if (bad >= 0) return refuseCapture('non-finite-log-probs', `log-prob ${logProbs[bad]} at position ${bad}`);
  if (answer.finishReason === 'length') return refuseCapture('truncated', 'the length limit ended the answer');
  if (offPolicy !== null) return refuseCapture(`off-policy:${offPolicy}`, offPolicy);
  return { trainable: true, promptIds, responseIds, logProbs };
}
