import type { ServedModel, PromptRequest } from './served-model';
import { isRefusal, refusal, type Refusal } from './core/refusal';
import type { TokenEntry } from './core/token-entry';
import { choosePromptIds, recoverIds, unscoredRefusal } from './core/token-recovery';

/** One answer of a server that gives no ids. Plain values: it travels between threads. */
export interface RecoveryQuestion {
  readonly tokens: readonly TokenEntry[];
  readonly logProbs: readonly number[] | null;
  readonly message: Readonly<Record<string, unknown>>;
  readonly endedByModel: boolean;
  /** `usage.completion_tokens`; `null` where several answers share it. */
  readonly countedTokens: number | null;
  /** `usage.prompt_tokens`. */
  readonly countedPromptTokens: number;
  readonly prompt: PromptRequest;
}

export interface RecoveredAnswer {
  readonly responseIds: readonly number[];
  /** 1 where the server counts an end token that it does not show. */
  readonly hiddenTokens: number;
  readonly promptIds: readonly number[];
}

/** The ids of an answer and of its prompt, or why they cannot be known. */
export function recover(model: ServedModel, question: RecoveryQuestion): RecoveredAnswer | Refusal {
  const recovered = unscoredRefusal(question.tokens, question.logProbs) ?? recoverIds(question, model.vocabulary);
  if (isRefusal(recovered)) return recovered;
  const prompt = promptIds(model, question);
  if (isRefusal(prompt)) return prompt;
  return { responseIds: recovered.ids, hiddenTokens: recovered.hiddenTokens, promptIds: prompt.promptIds };
}

function promptIds(model: ServedModel, { prompt, countedPromptTokens }: RecoveryQuestion) {
  try {
    return choosePromptIds(model.promptCandidates(prompt), countedPromptTokens);
  } catch {
    // What a template says of it may quote the conversation.
    return refusal('no-prompt-ids', 'the chat template or the tokenizer refuses the messages');
  }
}
