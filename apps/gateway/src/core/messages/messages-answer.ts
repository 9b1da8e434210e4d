import { HindcastError } from '@hindcast/contracts';
import type { AnswerOptions } from './messages-request';
import { isObject, type Json } from './request-fault';

/**
 * Stands where Anthropic signs its thinking, and is accepted back like any other. Not empty: clients take a block without a
 * signature for one that broke off, and send it back as text.
 */
export const SIGNATURE = 'hindcast';
/** Finish reasons of an engine that gave the answer up. */
const ABORTED = new Set(['abort', 'error']);

export const isAborted = (finishReason: unknown): boolean =>
  typeof finishReason === 'string' && ABORTED.has(finishReason);

/** Id under which the client knows an answer. */
export const messageId = (answerId: string): string => `msg_${answerId.replaceAll('-', '')}`;

/** For a tool call that the engine gave no id. */
export const toolUseId = (answerId: string, index: number): string => `toolu_${answerId.replaceAll('-', '')}_${index}`;

export const thinkingBlock = (thinking: string, signature = SIGNATURE): Json => ({
  type: 'thinking',
  thinking,
  signature,
});
export const textBlock = (text: string): Json => ({ type: 'text', text, citations: null });
export const toolUseBlock = (id: string, name: string, input: unknown): Json => ({
  type: 'tool_use',
  id,
  name,
  input,
  caller: { type: 'direct' },
});

/** A message as it is told; `stop` and `usage` may still be open. */
export const messageHead = (answerId: string, model: string | null, content: readonly Json[]): Json => ({
  id: messageId(answerId),
  type: 'message',
  role: 'assistant',
  model: model ?? '',
  content,
  container: null,
  diagnostics: null,
});

/**
 * A whole chat completion as a message.
 *
 * @throws HindcastError when the engine gave the answer up: there is no stop reason for that
 */
export function messageOf(completion: Json, answerId: string, options: AnswerOptions): Json {
  const choice = firstChoice(completion);
  if (isAborted(choice['finish_reason']))
    throw new HindcastError('engine-stream-broken', 'the engine aborted the answer');
  const message = isObject(choice['message']) ? choice['message'] : {};
  const content = contentBlocks(message, answerId, options);
  const hasToolUse = content.some(({ type }) => type === 'tool_use');
  return {
    ...messageHead(answerId, typeof completion['model'] === 'string' ? completion['model'] : null, content),
    ...stopOf(choice, { hasToolUse, refusal: textOf(message['refusal']) }, options),
    usage: {
      ...usageOf(completion['usage'], {
        prompt: lengthOf(completion['prompt_token_ids']),
        completion: lengthOf(choice['token_ids']),
      }),
      ...unknownUsage,
    },
  };
}

const firstChoice = (completion: Json): Json =>
  (Array.isArray(completion['choices']) ? completion['choices'].find(isObject) : undefined) ?? {};

/** Thinking, text, tool calls. A text of nothing but white space is left out: Anthropic's API would not take it back. */
function contentBlocks(message: Json, answerId: string, options: AnswerOptions): Json[] {
  const blocks: Json[] = [];
  const thinking = reasoningOf(message);
  if (thinking !== '' && options.showsThinking) blocks.push(thinkingBlock(thinking));
  const content = textOf(message['content']);
  const text = content.trim() === '' ? textOf(message['refusal']) : content;
  if (text.trim() !== '') blocks.push(textBlock(text));
  const calls: unknown[] = Array.isArray(message['tool_calls']) ? [...message['tool_calls']] : [];
  if (isObject(message['function_call'])) calls.push({ function: message['function_call'] });
  calls.filter(isObject).forEach((call, index) => {
    const target = call['function'] ?? call['custom'];
    if (!isObject(target)) return;
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : toolUseId(answerId, index);
    blocks.push(toolUseBlock(id, textOf(target['name']), inputOf(target['arguments'] ?? target['input'])));
  });
  return blocks;
}

/** Reasoning of a message or a delta, under either of its names. */
export const reasoningOf = (message: Json): string =>
  textOf(message['reasoning_content']) || textOf(message['reasoning']);

/** Text of a content: a string, or the texts of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/**
 * Tool arguments as a value. Those that are no JSON, or too deep to write, are given as text: the client's tool refuses them, and
 * the answer that it sends back is still the one that was captured.
 */
function inputOf(text: unknown): unknown {
  if (typeof text !== 'string') return text ?? {};
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    // A string would come back like a text that is no JSON.
    if (typeof value === 'string') return text;
    JSON.stringify(value);
    return value;
  } catch {
    return text;
  }
}

const lengthOf = (ids: unknown): number | null => (Array.isArray(ids) ? ids.length : null);

/** `stop_reason` and what belongs to it. Tools come before stop sequences: the client has to run them. */
export function stopOf(
  choice: Json,
  answer: { readonly hasToolUse: boolean; readonly refusal: string },
  { stopSequences }: AnswerOptions,
): Json {
  const finish = choice['finish_reason'];
  const stop = (reason: string, sequence: string | null = null, details: Json | null = null): Json => ({
    stop_reason: reason,
    stop_sequence: sequence,
    stop_details: details,
  });
  if (finish === 'length') return stop('max_tokens');
  if (finish === 'content_filter' || answer.refusal !== '')
    return stop('refusal', null, { type: 'refusal', category: null, explanation: answer.refusal || null });
  if (answer.hasToolUse) return stop('tool_use');
  // vLLM's and SGLang's name for the string that ended the answer; a number is a token.
  const matched = choice['stop_reason'] ?? choice['matched_stop'];
  if (typeof matched === 'string' && stopSequences.includes(matched)) return stop('stop_sequence', matched);
  return stop('end_turn');
}

const count = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
const detail = (usage: Json, of: string, name: string): number | null =>
  isObject(usage[of]) ? count(usage[of][name]) : null;

/** Parts of `usage` that exist only at Anthropic. */
export const unknownUsage = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };

/**
 * The engine's usage. Its prompt tokens include the cached ones, Anthropic's input tokens do not.
 *
 * @param seen counts of ids, where the engine gives no usage. The format has no null for these two: what nobody told is 0.
 */
export function usageOf(
  value: unknown,
  seen: { readonly prompt: number | null; readonly completion: number | null },
): Json {
  const usage = isObject(value) ? value : {};
  const cached = detail(usage, 'prompt_tokens_details', 'cached_tokens');
  const prompt = count(usage['prompt_tokens']) ?? seen.prompt ?? 0;
  const thinking = detail(usage, 'completion_tokens_details', 'reasoning_tokens');
  return {
    input_tokens: Math.max(0, prompt - (cached ?? 0)),
    output_tokens: count(usage['completion_tokens']) ?? seen.completion ?? 0,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: cached,
    output_tokens_details: thinking === null ? null : { thinking_tokens: thinking },
    server_tool_use: null,
  };
}
