import { isObject } from './request-refusal';
import { callId, itemId } from './response-ids';
import { customInput } from './response-tools';

type Json = Record<string, unknown>;
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A tool call of an answer. */
export interface AnswerCall {
  /** The engine's id, or one made for it. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

const NO_TOOLS: ReadonlySet<string> = new Set();
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The model's own reasoning, not a summary: vLLM and SGLang give it as it is. */
export const reasoningItem = (turnId: string, index: number, thought: string, status: ItemStatus): Json => ({
  id: itemId('rs', turnId, index),
  type: 'reasoning',
  summary: [],
  content: status === 'in_progress' ? [] : [{ type: 'reasoning_text', text: thought }],
  status,
});

export const textPart = (said: string, logprobs: readonly unknown[] = []): Json => ({
  type: 'output_text',
  text: said,
  annotations: [],
  logprobs,
});

export const refusalPart = (refusal: string): Json => ({ type: 'refusal', refusal });

export const messageItem = (turnId: string, index: number, content: readonly Json[], status: ItemStatus): Json => ({
  id: itemId('msg', turnId, index),
  type: 'message',
  role: 'assistant',
  status,
  content,
});

/** @param custom names of the custom tools, whose input is a text */
export function callItem(
  turnId: string,
  index: number,
  call: AnswerCall,
  status: ItemStatus,
  custom: ReadonlySet<string>,
): Json {
  if (custom.has(call.name)) {
    return {
      id: itemId('ctc', turnId, index),
      type: 'custom_tool_call',
      status,
      call_id: call.id,
      name: call.name,
      input: customInput(call.arguments),
    };
  }
  return {
    id: itemId('fc', turnId, index),
    type: 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  };
}

/** Tool calls of an engine's message. */
export function callsOf(turnId: string, message: Json): AnswerCall[] {
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isObject) : [];
  return calls.map((call, index) => {
    const target = isObject(call['function']) ? call['function'] : {};
    const written = target['arguments'];
    return {
      id: text(call['id']) || callId(turnId, index),
      name: text(target['name']),
      // Some engines give the arguments as an object.
      arguments: isObject(written) ? JSON.stringify(written) : text(written),
    };
  });
}

/** Text of an engine's message; parts that are no text are left out. */
export function saidText(content: unknown): string {
  if (!Array.isArray(content)) return text(content);
  return content.map((part: unknown) => (isObject(part) ? text(part['text']) : text(part))).join('');
}

export const reasoningOf = (message: Json): string => text(message['reasoning_content']) || text(message['reasoning']);

/**
 * Output of a whole answer: reasoning, message, calls. An answer that says nothing is a message with an empty text, so that a client
 * which sends it back says that it was there.
 *
 * @param logprobs entries of the text's tokens, when the client asked for them
 */
export function outputItems(
  turnId: string,
  message: Json,
  custom: ReadonlySet<string> = NO_TOOLS,
  logprobs: readonly unknown[] = [],
): Json[] {
  const items: Json[] = [];
  const thought = reasoningOf(message);
  if (thought !== '') items.push(reasoningItem(turnId, 0, thought, 'completed'));
  const calls = callsOf(turnId, message);
  const said = saidText(message['content']);
  const refusal = text(message['refusal']);
  const parts: Json[] = [];
  // White space before calls or a refusal is only what stood between the model's tags.
  if (said.trim() !== '' || (refusal === '' && calls.length === 0)) parts.push(textPart(said, logprobs));
  if (refusal !== '') parts.push(refusalPart(refusal));
  if (parts.length > 0) items.push(messageItem(turnId, 0, parts, 'completed'));
  return [...items, ...calls.map((call, index) => callItem(turnId, index, call, 'completed', custom))];
}

/** An engine's answer as a message of the conversation that goes on. */
export function answerMessage(turnId: string, answer: Json): Json {
  const thought = reasoningOf(answer);
  const calls = Array.isArray(answer['tool_calls']) ? answer['tool_calls'].filter(isObject) : [];
  return {
    ...answer,
    role: 'assistant',
    ...(thought !== '' && { reasoning_content: thought, reasoning: thought }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call, index) => ({ ...call, id: text(call['id']) || callId(turnId, index) })),
    }),
  };
}
