import { isObject, type Json } from './request-fault';

/** https://docs.claude.com/en/api/errors; 503 is what other servers say for Anthropic's 529. */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const errorType = (status: number): string => TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/** Anthropic's error body. Its SDKs show `details.error_code`: there stand Hindcast's own codes, see docs/errors.md. */
export function messagesError(status: number, message: string, code: unknown = null): Json {
  const details = typeof code === 'string' ? { details: { error_code: code } } : {};
  return { type: 'error', error: { type: errorType(status), message, ...details } };
}

/** OpenAI's error body as Anthropic's. What is neither becomes the message; Anthropic's own stays as it is. */
export function messagesErrorBody(status: number, text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  const error = isObject(body) ? body['error'] : null;
  if (!isObject(error)) return JSON.stringify(messagesError(status, text));
  if ((body as Json)['type'] === 'error') return text;
  const message = typeof error['message'] === 'string' ? error['message'] : JSON.stringify(error);
  return JSON.stringify(messagesError(status, message, error['code']));
}
