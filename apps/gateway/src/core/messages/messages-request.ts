import type { Dialect } from '../engine-request';
import { chatMessages, systemMessage } from './messages-history';
import { functionTools, toolChoice } from './messages-tools';
import { listAt, objectAt, RequestFault, stringAt, type Json } from './request-fault';

/** What an answer must know of its request. */
export interface AnswerOptions {
  readonly stopSequences: readonly string[];
  /** `false` where the client switched thinking off: it expects no thinking blocks, even from a model that thinks. */
  readonly showsThinking: boolean;
}

export type MessagesRequest =
  | {
      readonly ok: true;
      readonly chat: Json;
      readonly options: AnswerOptions;
      /** `metadata.user_id`. It stays here: Claude Code writes account and session into it. */
      readonly user: string | null;
    }
  | { readonly ok: false; readonly message: string; readonly param: string };

export type CountedRequest =
  | { readonly ok: true; readonly model: string | null; readonly prompt: Json }
  | { readonly ok: false; readonly message: string; readonly param: string };

/**
 * Names of an assistant message's reasoning. vLLM reads `reasoning` since 0.12 and `reasoning_content` before, SGLang the latter;
 * other servers may refuse either.
 */
const reasoningFields: Readonly<Record<Dialect, readonly string[]>> = {
  vllm: ['reasoning', 'reasoning_content'],
  sglang: ['reasoning_content'],
  openai: [],
};

/** Fields that are chat completions' own or Hindcast's and mean the same here. */
const PASSED = ['temperature', 'top_p', 'top_k', 'chat_template_kwargs', 'seed'];
const HINDCAST = ['session_id', 'turn_type', 'session_done', 'session_outcome', 'train', 'ground_truth'];

/**
 * The body of `POST /v1/messages` as one of chat completions. Equal bodies give equal ones. Fields that change only how Anthropic
 * serves and bills a request are ignored.
 */
export function messagesRequest(body: unknown, dialect: Dialect): MessagesRequest {
  return caught(() => {
    const request = objectAt(body, 'body');
    const { messages, tools } = conversation(request, dialect);
    const stopSequences = stringList(request['stop_sequences'], 'stop_sequences');
    const chat: Json = {
      ...(request['model'] != null && { model: stringAt(request['model'], 'model') }),
      messages,
      max_tokens: maxTokens(request['max_tokens']),
      ...(tools.length > 0 && { tools }),
      ...toolChoice(request['tool_choice'], tools.length > 0),
      ...(stopSequences.length > 0 && { stop: stopSequences }),
      ...responseFormat(request['output_config']),
      ...streaming(request['stream']),
      ...continuation(messages, dialect),
    };
    for (const field of [...PASSED, ...HINDCAST]) if (request[field] != null) chat[field] = request[field];
    const thinking = request['thinking'] == null ? {} : objectAt(request['thinking'], 'thinking');
    const options = { stopSequences, showsThinking: thinking['type'] !== 'disabled' };
    return { ok: true, chat, options, user: userOf(request['metadata']) };
  });
}

/** The body of `POST /v1/messages/count_tokens`, as what decides the prompt of its conversation. */
export function countedRequest(body: unknown, dialect: Dialect): CountedRequest {
  return caught(() => {
    const request = objectAt(body, 'body');
    const { messages, tools } = conversation(request, dialect);
    const prompt: Json = {
      messages,
      ...(tools.length > 0 && { tools }),
      add_generation_prompt: true,
      ...continuation(messages, dialect),
      ...(request['chat_template_kwargs'] != null && { chat_template_kwargs: request['chat_template_kwargs'] }),
    };
    return { ok: true, model: request['model'] == null ? null : stringAt(request['model'], 'model'), prompt };
  });
}

function conversation(request: Json, dialect: Dialect): { messages: Json[]; tools: Json[] } {
  if (Array.isArray(request['mcp_servers']) && request['mcp_servers'].length > 0)
    throw new RequestFault('mcp_servers', 'are run only by Anthropic; give their tools as custom tools');
  const system = systemMessage(request['system']);
  const conversed = chatMessages(request['messages'], reasoningFields[dialect]);
  const messages = system ? [system, ...conversed] : conversed;
  if (messages.length === 0) throw new RequestFault('messages', 'must not be empty system messages alone');
  return { messages, tools: functionTools(request['tools']) };
}

function caught<T>(read: () => T): T | { readonly ok: false; readonly message: string; readonly param: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof RequestFault) return { ok: false, message: error.message, param: error.param };
    throw error;
  }
}

function maxTokens(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw new RequestFault('max_tokens', 'a whole number from 1 on is needed');
  return value as number;
}

const stringList = (value: unknown, param: string): string[] =>
  value == null ? [] : listAt(value, param).map((entry, index) => stringAt(entry, `${param}.${index}`));

function userOf(metadata: unknown): string | null {
  const user = metadata == null ? null : objectAt(metadata, 'metadata')['user_id'];
  return user == null ? null : stringAt(user, 'metadata.user_id');
}

function responseFormat(config: unknown): Json {
  const format = config == null ? null : objectAt(config, 'output_config')['format'];
  if (format == null) return {};
  const { type, schema } = objectAt(format, 'output_config.format');
  if (type !== 'json_schema') throw new RequestFault('output_config.format.type', "must be 'json_schema'");
  const jsonSchema = { name: 'output', schema: objectAt(schema, 'output_config.format.schema'), strict: true };
  return { response_format: { type: 'json_schema', json_schema: jsonSchema } };
}

function streaming(stream: unknown): Json {
  if (stream == null) return {};
  if (typeof stream !== 'boolean') throw new RequestFault('stream', 'must be true or false');
  // Usage belongs to every answer of this API, also where nothing is captured.
  return stream ? { stream, stream_options: { include_usage: true } } : { stream };
}

/** A conversation that ends with the beginning of an answer is continued there; templates would open a new answer after it. */
function continuation(messages: readonly Json[], dialect: Dialect): Json {
  const last = messages.at(-1);
  const isBegun = last?.['role'] === 'assistant' && last['tool_calls'] === undefined;
  return isBegun && dialect !== 'openai' ? { add_generation_prompt: false, continue_final_message: true } : {};
}
