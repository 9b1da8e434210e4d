import { ConversationInput, type PastAnswer } from './conversation-input';
import { RequestRefusal, isObject, listAt, objectAt, textAt } from './request-refusal';
import { turnOfItem, turnOfResponse } from './response-ids';
import { chatTools } from './response-tools';

type Json = Record<string, unknown>;

/** Fields that say something to the Responses API only; every other field goes on to the engine as it is. */
const CONSUMED = new Set([
  'input',
  'instructions',
  'previous_response_id',
  'conversation',
  'prompt',
  'background',
  'include',
  'text',
  'reasoning',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'max_tool_calls',
  'top_logprobs',
  'logprobs',
  'stream_options',
  'store',
  'metadata',
  'truncation',
  'context_management',
  'moderation',
  'prompt_cache_options',
]);

/** Fields of chat completions that would contradict what is made of the request here. */
const CHAT_ONLY = ['messages', 'functions', 'function_call', 'n'];

/** Turns whose answers a request names: the previous response, and items by reference. They are looked up before `chatBody`. */
export function namedTurns(body: unknown): string[] {
  if (!isObject(body)) return [];
  const input = Array.isArray(body['input']) ? body['input'].filter(isObject) : [];
  const references = input.filter((item) => item['type'] === 'item_reference' || item['type'] === undefined);
  const turns = [turnOfResponse(body['previous_response_id']), ...references.map((item) => turnOfItem(item['id']))];
  return [...new Set(turns.filter((turn) => turn !== null))];
}

/**
 * Body of the chat completion that answers a request of the Responses API (platform.openai.com/docs/api-reference/responses/create).
 *
 * @param past answers of `namedTurns`, by turn id
 * @throws RequestRefusal for what is wrong or cannot be done here
 */
export function chatBody(value: unknown, past: ReadonlyMap<string, PastAnswer>): Json {
  if (!isObject(value)) throw new RequestRefusal('the body must be a JSON object', null);
  refuseUnserved(value);
  const passed = Object.fromEntries(Object.entries(value).filter(([field]) => !CONSUMED.has(field)));
  return {
    ...passed,
    messages: messagesOf(value, past),
    ...chatTools(value),
    ...textFields(value['text']),
    ...reasoningFields(value['reasoning']),
    // vLLM and SGLang take this name and the older `max_tokens`; OpenAI's newer models only this one.
    ...(value['max_output_tokens'] != null && { max_completion_tokens: value['max_output_tokens'] }),
    ...logProbFields(value),
    // The closing event has the usage in it.
    ...(value['stream'] === true && { stream_options: { include_usage: true } }),
  };
}

/** Whether the client asked for log-probs; the gateway asks the engine for them in any case. */
export const wantsLogProbs = (body: Json): boolean =>
  (typeof body['top_logprobs'] === 'number' && body['top_logprobs'] > 0) ||
  (Array.isArray(body['include']) && body['include'].includes('message.output_text.logprobs'));

function refuseUnserved(body: Json): void {
  for (const field of CHAT_ONLY) {
    const value = body[field];
    if (value === undefined || value === null || (field === 'n' && value === 1)) continue;
    throw new RequestRefusal(`${field} belongs to chat completions and is not a field of responses`, field);
  }
  if (body['background'] === true) throw new RequestRefusal('background responses are not supported', 'background');
  if (body['prompt'] != null)
    throw new RequestRefusal('prompt templates are not supported: send instructions and input', 'prompt');
  if (body['conversation'] != null) {
    throw new RequestRefusal(
      'conversations are not kept here: send the whole input, or previous_response_id',
      'conversation',
    );
  }
  if (body['moderation'] != null) throw new RequestRefusal('moderation is not supported', 'moderation');
}

function messagesOf(body: Json, past: ReadonlyMap<string, PastAnswer>): Json[] {
  const conversation = new ConversationInput(past);
  const previous = body['previous_response_id'];
  if (previous != null) {
    const turnId = turnOfResponse(previous);
    const found = turnId === null ? undefined : past.get(turnId);
    if (!found) throw previousNotFound(previous);
    conversation.addPast(turnId!, found);
  }
  const { input } = body;
  if (typeof input === 'string') conversation.addItem({ role: 'user', content: input }, 'input');
  else listAt(input, 'input').forEach((item, index) => conversation.addItem(item, `input[${index}]`));
  const instructions = body['instructions'];
  const messages =
    instructions == null || instructions === ''
      ? conversation.messages
      : [{ role: 'system', content: textAt(instructions, 'instructions') }, ...conversation.messages];
  if (messages.length === 0) throw new RequestRefusal('input must not be empty', 'input');
  return messages;
}

/** As OpenAI words it: clients look for the code and send the whole conversation instead. */
function previousNotFound(id: unknown): RequestRefusal {
  const shown = typeof id === 'string' ? id.slice(0, 100) : typeof id;
  const message = `Previous response with id '${shown}' not found.`;
  return new RequestRefusal(message, 'previous_response_id', 400, 'previous_response_not_found');
}

function textFields(value: unknown): Json {
  if (value === undefined || value === null) return {};
  const { format, verbosity } = objectAt(value, 'text');
  return { ...responseFormat(format), ...(verbosity != null && { verbosity }) };
}

function responseFormat(value: unknown): Json {
  if (value === undefined || value === null) return {};
  const format = objectAt(value, 'text.format');
  switch (format['type']) {
    case 'text':
      return {};
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'json_schema': {
      const { type: _, ...schema } = format;
      return { response_format: { type: 'json_schema', json_schema: schema } };
    }
    default:
      throw new RequestRefusal('text.format.type must be one of text, json_object, json_schema', 'text.format.type');
  }
}

function reasoningFields(value: unknown): Json {
  if (value === undefined || value === null) return {};
  const { effort } = objectAt(value, 'reasoning');
  return effort == null ? {} : { reasoning_effort: effort };
}

function logProbFields(body: Json): Json {
  if (!wantsLogProbs(body)) return {};
  const top = body['top_logprobs'];
  return { logprobs: true, ...(top != null && { top_logprobs: top }) };
}
