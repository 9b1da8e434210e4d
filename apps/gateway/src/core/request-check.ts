import { hasUnread } from './unread-text';

type Json = Record<string, unknown>;

/** A chat request whose shape Hindcast relies on; everything else is the engine's to judge. */
export interface ChatRequest extends Json {
  readonly messages: readonly Json[];
  readonly model?: string;
  readonly stream?: boolean;
}

/** OpenAI's largest `n`. */
const MAX_CHOICES = 128;

/** How many choices the request asks for. */
export const choicesOf = (request: ChatRequest): number => (typeof request['n'] === 'number' ? request['n'] : 1);

export type RequestCheck =
  | { readonly ok: true; readonly request: ChatRequest }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const refuse = (message: string, param: string | null = null): RequestCheck => ({ ok: false, message, param });

export function checkRequest(body: unknown): RequestCheck {
  if (!isObject(body)) return refuse('the body must be a JSON object');
  const { messages, model, stream } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    return refuse('messages must be a non-empty array', 'messages');
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    if (!isObject(message)) return refuse(`${param} must be an object`, param);
    if (typeof message['role'] !== 'string' || !ROLES.has(message['role'])) {
      return refuse(`${param}.role must be one of ${[...ROLES].join(', ')}`, `${param}.role`);
    }
    // One that is not read yet is a text.
    const content = hasUnread(message) ? '' : message['content'];
    const isContent =
      content === undefined || content === null || typeof content === 'string' || Array.isArray(content);
    if (!isContent) return refuse(`${param}.content must be a string, an array of parts or null`, `${param}.content`);
    if (message['tool_calls'] != null && !Array.isArray(message['tool_calls'])) {
      return refuse(`${param}.tool_calls must be an array`, `${param}.tool_calls`);
    }
  }
  if (model !== undefined && model !== null && typeof model !== 'string')
    return refuse('model must be a string', 'model');
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    return refuse('stream must be true or false', 'stream');
  const { n } = body;
  if (n !== undefined && n !== null && !(Number.isInteger(n) && (n as number) >= 1 && (n as number) <= MAX_CHOICES))
    return refuse(`n must be a whole number from 1 to ${MAX_CHOICES}`, 'n');
  for (const field of ['stream_options', 'chat_template_kwargs']) {
    if (body[field] !== undefined && body[field] !== null && !isObject(body[field]))
      return refuse(`${field} must be an object`, field);
  }
  if (body['tools'] !== undefined && body['tools'] !== null && !Array.isArray(body['tools']))
    return refuse('tools must be an array', 'tools');
  const endless = endlessNumber(body);
  if (endless !== null) return refuse(`${endless} must be a finite number`, endless);
  return { ok: true, request: body as ChatRequest };
}

/** Field that holds a number which JSON can write and no double can hold, as 1e400: an engine would get `null`. `null`: there is none. */
export function endlessNumber(body: Json): string | null {
  for (const [field, value] of Object.entries(body)) if (isEndless(value)) return field;
  return null;
}

function isEndless(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  const isTextUnread = hasUnread(value);
  return Object.keys(value).some((name) => !(isTextUnread && name === 'content') && isEndless((value as Json)[name]));
}
