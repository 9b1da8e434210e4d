/** OpenAI's error body. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string | number | null;
    readonly param: string | null;
  };
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const SHOWN_CHARS = 1_000;

export const errorBody = (
  message: string,
  type: string,
  code: string | null,
  param: string | null = null,
): ErrorBody => ({
  error: { message, type, code, param },
});

/** The event that ends a streamed answer which cannot go on. Trying again can help. */
export function streamError(outcome: 'failed' | 'malformed', detail: string): Uint8Array {
  const code = outcome === 'malformed' ? 'engine-invalid-response' : 'engine-stream-broken';
  return new TextEncoder().encode(`data: ${JSON.stringify(errorBody(detail, 'server_error', code))}\n\n`);
}

/**
 * Status and body for an engine's error response. A body in OpenAI's shape is passed on as it is; vLLM's older flat form is put
 * into that shape. A server error whose body is no error object is the engine's own failure: 502. So is a status that is neither an
 * answer nor an error, like a redirect: a client would take it for something that it is to act on. So are 401 and 403: the key that
 * the engine refuses is the gateway's, and a client would take it for its own.
 */
export function engineErrorResponse(status: number, text: string): { readonly status: number; readonly body: string } {
  if (status < 400 || status > 599) {
    const message = `the engine answered ${status}`;
    return { status: 502, body: JSON.stringify(errorBody(message, 'server_error', 'engine-invalid-response')) };
  }
  if (isOwnKeyRefused(status)) return { status: 502, body: ownKeyRefused(status) };
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (isObject(body) && isObject(body['error']) && typeof body['error']['message'] === 'string')
    return { status, body: text };
  const type = errorType(status);
  const message = isObject(body) ? (body['message'] ?? body['error'] ?? body['detail']) : null;
  if (message !== null && message !== undefined) {
    const shown = typeof message === 'string' ? message : JSON.stringify(message);
    return {
      status,
      body: JSON.stringify(errorBody(shown.slice(0, SHOWN_CHARS), type, codeOf((body as Json)['code'], status))),
    };
  }
  if (status === 500)
    return { status: 502, body: JSON.stringify(errorBody('the engine failed', type, 'engine-invalid-response')) };
  return {
    status,
    body: JSON.stringify(
      errorBody(text.slice(0, SHOWN_CHARS) || `the engine answered ${status}`, type, String(status)),
    ),
  };
}

const codeOf = (code: unknown, status: number): string =>
  typeof code === 'string' || typeof code === 'number' ? String(code) : String(status);

const isOwnKeyRefused = (status: number): boolean => status === 401 || status === 403;

const ownKeyRefused = (status: number): string =>
  JSON.stringify(
    errorBody(
      `the engine refused the gateway's own key (HTTP ${status}): POLICY_API_KEY is wrong or missing`,
      'server_error',
      'engine-unauthorized',
    ),
  );

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Status for an error that an engine reported as the first event of a stream. */
export function reportedStatus(reported: unknown): number {
  const status = statusIn(reported);
  return status === null || isOwnKeyRefused(status) ? 502 : status;
}

function statusIn(reported: unknown): number | null {
  const said = isObject(reported) ? (reported['code'] ?? reported['status']) : null;
  const code = typeof said === 'number' || typeof said === 'string' ? Number(said) : NaN;
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : null;
}

export function reportedBody(reported: unknown): string {
  const status = statusIn(reported);
  if (status !== null && isOwnKeyRefused(status)) return ownKeyRefused(status);
  if (isObject(reported)) {
    const { error } = errorBody('the engine reported an error', 'server_error', null);
    return JSON.stringify({ error: { ...error, ...reported } });
  }
  return JSON.stringify(
    errorBody(
      (typeof reported === 'string' ? reported : JSON.stringify(reported)).slice(0, SHOWN_CHARS),
      'server_error',
      'engine-invalid-response',
    ),
  );
}
