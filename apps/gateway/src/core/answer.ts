import type { Refusal } from './refusal';
import { tokenEntries, type TokenEntry } from './token-entry';
import type { TokenNumbers } from './token-answer';
import { choiceIds, extensionIds, promptIdsIn, type Numbers } from './token-ids';

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

/** One choice of an answer as the engine gave it. What the engine did not give is `null`, never a default. */
export interface ChoiceAnswer {
  /** The assistant message. */
  readonly message: Json;
  readonly finishReason: string | null;
  readonly responseIds: readonly number[] | null;
  /** Log-probs of the sampled ids, nats; NaN where an entry has no number. */
  readonly logProbs: readonly number[] | null;
  /** What the entries of the log-probs say of the sampled tokens; kept only where no ids came. */
  readonly tokens?: readonly TokenEntry[];
  /** Why it is no answer of an assistant, whatever else is right with it. */
  readonly fault?: string;
  /** Why ids that did not come could not be found either. */
  readonly refusal?: Refusal;
}

/** What all choices of one response share. */
export interface SharedAnswer {
  readonly responseId: string | null;
  readonly model: string | null;
  readonly promptIds: Numbers | null;
  /** Of all choices together. */
  readonly usage: Usage | null;
}

/** A choice with what it shares with the other choices of its response, streamed or whole. */
export interface CompletedAnswer extends ChoiceAnswer, SharedAnswer {
  /** Place of the choice in the response. */
  readonly index: number;
  /** Choices that the engine sent. */
  readonly choices: number;
  /** Sampled ids of all choices together; `null` when the engine did not give those of every choice. */
  readonly sampledIds: number | null;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export function usageOf(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = value;
  return isCount(promptTokens) && isCount(completionTokens) ? { promptTokens, completionTokens } : null;
}

/** Why the choice ended; `null` while it goes on. Some servers write an empty string until then. */
export function finishReasonOf(choice: Json): string | null {
  const reason = choice['finish_reason'];
  return typeof reason === 'string' && reason !== '' ? reason : null;
}

/** What is wrong with the role of a message or a delta; one that is left out is the assistant's. */
export function roleFault({ role }: Json): string | null {
  if (role === undefined || role === null || role === '' || role === 'assistant') return null;
  return `the message's role is ${typeof role === 'string' ? JSON.stringify(role.slice(0, 40)) : `a ${typeof role}`}`;
}

/** A choice that the engine did not send; usage says nothing of it. */
const ABSENT = {
  message: { role: 'assistant', content: null },
  finishReason: null,
  responseIds: null,
  logProbs: null,
} satisfies ChoiceAnswer;

/**
 * The choices `0` to `expected − 1` of one response. One that the engine did not send is there without anything; one that
 * nobody expected is not there, and counts.
 */
export function completedAnswers(
  shared: SharedAnswer,
  choices: ReadonlyMap<number, ChoiceAnswer>,
  expected: number,
): CompletedAnswer[] {
  const lengths = [...choices.values()].map(({ responseIds }) => responseIds?.length ?? NaN);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const sampledIds = Number.isNaN(total) ? null : total;
  return Array.from({ length: expected }, (_, index) => {
    const place = { index, choices: choices.size, sampledIds };
    const choice = choices.get(index);
    return choice ? completed(shared, choice, place) : completed({ ...shared, usage: null }, ABSENT, place);
  });
}

type Place = Pick<CompletedAnswer, 'index' | 'choices' | 'sampledIds'>;

/** Member by member: to spread two objects into one takes several times as long. */
const completed = (
  { responseId, model, promptIds, usage }: SharedAnswer,
  { message, finishReason, responseIds, logProbs, tokens, fault, refusal }: ChoiceAnswer,
  { index, choices, sampledIds }: Place,
): CompletedAnswer => ({
  responseId,
  model,
  promptIds,
  usage,
  message,
  finishReason,
  responseIds,
  logProbs,
  ...(tokens && { tokens }),
  ...(fault !== undefined && { fault }),
  ...(refusal && { refusal }),
  index,
  choices,
  sampledIds,
});

/**
 * Reads a whole (not streamed) chat completion: its choices `0` to `expected − 1`; `null` when it is not one.
 *
 * @param numbers of its only choice, where the body is without them
 */
export function readCompletion(body: unknown, expected: number, numbers?: TokenNumbers): CompletedAnswer[] | null {
  if (!isObject(body) || !Array.isArray(body['choices'])) return null;
  const choices = body['choices'].filter(isObject);
  if (choices.length === 0 || !choices.every((choice) => isObject(choice['message']))) return null;
  const shared = {
    responseId: typeof body['id'] === 'string' && body['id'] !== '' ? body['id'] : null,
    model: typeof body['model'] === 'string' ? body['model'] : null,
    promptIds: numbers ? numbers.promptIds : promptIdsIn(body, choices[0]!),
    usage: usageOf(body['usage']),
  };
  const byIndex = new Map<number, ChoiceAnswer>();
  for (const [position, choice] of choices.entries()) {
    const index = typeof choice['index'] === 'number' ? choice['index'] : position;
    const responseIds = numbers ? numbers.responseIds : (choiceIds(choice) ?? extensionIds(body, index));
    const tokens = responseIds ? null : tokensOf(choice);
    const fault = byIndex.has(index) ? `two choices have the index ${index}` : roleFault(choice['message'] as Json);
    byIndex.set(index, {
      message: choice['message'] as Json,
      finishReason: finishReasonOf(choice),
      responseIds,
      logProbs: numbers ? numbers.logProbs : logProbsOf(choice),
      ...(tokens && { tokens }),
      ...(fault !== null && { fault }),
    });
  }
  return completedAnswers(shared, byIndex, expected);
}

/** Log-probs that stand in a choice, of the whole answer or those that a chunk adds; NaN where an entry has no number. */
export function logProbsOf(choice: Json): number[] | null {
  const content = isObject(choice['logprobs']) ? choice['logprobs']['content'] : null;
  if (!Array.isArray(content)) return null;
  return content.map((entry: unknown) =>
    isObject(entry) && typeof entry['logprob'] === 'number' ? entry['logprob'] : NaN,
  );
}

/** What the log-probs that stand in a choice say of its tokens. */
export function tokensOf(choice: Json): TokenEntry[] | null {
  const content = isObject(choice['logprobs']) ? choice['logprobs']['content'] : null;
  return Array.isArray(content) ? tokenEntries(content) : null;
}

/** Whether the message says anything: text, reasoning, a refusal or a tool call. */
export function hasSubstance(message: Json): boolean {
  return ['content', 'reasoning_content', 'reasoning', 'refusal', 'tool_calls', 'function_call'].some((field) => {
    const value = message[field];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
  });
}

/** Tool calls whose finish reason says that the answer stopped: clients that go by it would not run them. */
export const callsWithoutSayingSo = ({ message, finishReason }: CompletedAnswer): boolean =>
  finishReason === 'stop' && Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0;
