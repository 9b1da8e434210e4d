import { choiceIds, extensionIds, promptIdsIn } from './token-ids';

type Json = Record<string, unknown>;

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface ToolCall {
  readonly id: string | null;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An answer as the engine gave it, streamed or whole. What the engine did not give is `null`, never a default. */
export interface CompletedAnswer {
  readonly responseId: string | null;
  readonly model: string | null;
  /** The assistant message. */
  readonly message: Json;
  readonly finishReason: string | null;
  readonly choices: number;
  readonly promptIds: readonly number[] | null;
  readonly responseIds: readonly number[] | null;
  /** Log-probs of the sampled ids, nats; NaN where an entry has no number. */
  readonly logProbs: readonly number[] | null;
  readonly usage: Usage | null;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export function usageOf(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = value;
  return isCount(promptTokens) && isCount(completionTokens) ? { promptTokens, completionTokens } : null;
}

/** Reads a whole (not streamed) chat completion; `null` when it is not one. */
export function readCompletion(body: unknown): CompletedAnswer | null {
  if (!isObject(body) || !Array.isArray(body['choices'])) return null;
  const choices = body['choices'].filter(isObject);
  const choice = choices[0];
  if (!choice || !isObject(choice['message'])) return null;
  const logProbs = isObject(choice['logprobs']) ? choice['logprobs']['content'] : null;
  return {
    responseId: typeof body['id'] === 'string' && body['id'] !== '' ? body['id'] : null,
    model: typeof body['model'] === 'string' ? body['model'] : null,
    message: choice['message'],
    finishReason: typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : null,
    choices: choices.length,
    promptIds: promptIdsIn(body, choice),
    responseIds: choiceIds(choice) ?? extensionIds(body, 0),
    logProbs: Array.isArray(logProbs)
      ? logProbs.map((entry: unknown) =>
          isObject(entry) && typeof entry['logprob'] === 'number' ? entry['logprob'] : NaN,
        )
      : null,
    usage: usageOf(body['usage']),
  };
}

/** Whether the message says anything: text, reasoning, a refusal or a tool call. */
export function hasSubstance(message: Json): boolean {
  return ['content', 'reasoning_content', 'reasoning', 'refusal', 'tool_calls', 'function_call'].some((field) => {
    const value = message[field];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
  });
}
