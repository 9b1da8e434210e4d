import type { ErrorBody } from '../engine-error';
import { responseId } from './response-ids';

type Json = Record<string, unknown>;

/** What an answer is told from besides the engine's answer itself. */
export interface ResponseContext {
  /** The turn's id, or one for an answer that is no turn. */
  readonly answerId: string;
  /** The client's request: much of it comes back with the response. */
  readonly request: Json;
  /** Unix time, seconds. */
  readonly createdAt: number;
}

/** How far a response is. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** Model name that the engine answered with; `null` before it said one. */
  readonly model: string | null;
  readonly output: readonly Json[];
  readonly usage: Json | null;
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter';
  readonly error?: { readonly code: string; readonly message: string };
}

/** The `response` object (platform.openai.com/docs/api-reference/responses/object). */
export function responseObject({ answerId, request, createdAt }: ResponseContext, state: ResponseState): Json {
  const text = (request['text'] ?? {}) as Json;
  const reasoning = (request['reasoning'] ?? {}) as Json;
  return {
    id: responseId(answerId),
    object: 'response',
    created_at: createdAt,
    status: state.status,
    background: false,
    error: state.error ?? null,
    incomplete_details: state.incompleteReason ? { reason: state.incompleteReason } : null,
    instructions: request['instructions'] ?? null,
    max_output_tokens: request['max_output_tokens'] ?? null,
    max_tool_calls: request['max_tool_calls'] ?? null,
    model: state.model ?? request['model'] ?? null,
    output: state.output,
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    previous_response_id: request['previous_response_id'] ?? null,
    prompt_cache_key: request['prompt_cache_key'] ?? null,
    reasoning: { effort: reasoning['effort'] ?? null, summary: null },
    safety_identifier: request['safety_identifier'] ?? null,
    service_tier: request['service_tier'] ?? null,
    store: request['store'] ?? true,
    temperature: request['temperature'] ?? null,
    text: { ...text, format: text['format'] ?? { type: 'text' } },
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: request['tools'] ?? [],
    top_logprobs: request['top_logprobs'] ?? 0,
    top_p: request['top_p'] ?? null,
    // Nothing is ever cut from a conversation.
    truncation: 'disabled',
    usage: state.usage,
    user: request['user'] ?? null,
    metadata: request['metadata'] ?? {},
  };
}

/** Status of an answer by the engine's finish reason. */
export function stateOf(finishReason: string | null): Pick<ResponseState, 'status' | 'incompleteReason' | 'error'> {
  switch (finishReason) {
    case 'length':
      return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
    case 'content_filter':
      return { status: 'incomplete', incompleteReason: 'content_filter' };
    case 'abort':
    case 'error':
      return { status: 'failed', error: failure('the engine aborted the answer') };
    default:
      return { status: 'completed' };
  }
}

/** Of the codes that a response's error may have, the one that says that trying again can help. */
export const failure = (message: string): { code: string; message: string } => ({ code: 'server_error', message });

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/**
 * The engine's usage in the words of the Responses API; `null` when the engine gave none. The protocol wants the details as numbers: 0
 * where the engine tells none apart.
 */
export function responseUsage(value: unknown): Json | null {
  if (!isObject(value)) return null;
  const { prompt_tokens: input, completion_tokens: output } = value;
  if (!isCount(input) || !isCount(output)) return null;
  const detail = (field: string, name: string): number => {
    const details = value[field];
    const count = isObject(details) ? details[name] : null;
    return isCount(count) ? count : 0;
  };
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: detail('prompt_tokens_details', 'cached_tokens') },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: detail('completion_tokens_details', 'reasoning_tokens') },
    total_tokens: input + output,
  };
}

/** Message and code of an error that an engine reported, whatever its shape. */
export function reportedError(reported: unknown): ErrorBody['error'] {
  const { message, type, code, param } = isObject(reported) ? reported : { message: reported };
  return {
    message: typeof message === 'string' && message !== '' ? message : 'the engine reported an error',
    type: typeof type === 'string' ? type : 'server_error',
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : null,
    param: typeof param === 'string' ? param : null,
  };
}
