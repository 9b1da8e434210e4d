import { HttpException } from '@nestjs/common';
import { HindcastError, type ErrorCode } from '@hindcast/contracts';

/** OpenAI's error body. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param: string | null;
  };
}

const statusOfCode: Partial<Record<ErrorCode, number>> = {
  'invalid-json': 400,
  'invalid-request': 400,
  'contract-violation': 400,
  'body-too-large': 413,
  'model-not-found': 404,
  'not-found': 404,
  'turn-not-found': 404,
  'dead-letter-not-found': 404,
  'not-supported': 501,
  unauthorized: 401,
  forbidden: 403,
  'rate-limited': 429,
  'engine-unreachable': 502,
  'engine-timeout': 504,
  'engine-invalid-response': 502,
  'engine-unauthorized': 502,
  'engine-stream-broken': 502,
  'ledger-unavailable': 503,
  'dependency-unavailable': 503,
};

const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** Status and body for any thrown value. What is not meant for the caller becomes `internal`. */
export function httpErrorOf(error: unknown): { status: number; body: OpenAiError } {
  if (error instanceof HindcastError) {
    const status = statusOfCode[error.code];
    if (status !== undefined) return { status, body: openAiError(status, error.code, error.message) };
  } else if (error instanceof HttpException) {
    const response = error.getResponse();
    const status = error.getStatus();
    if (isOpenAiError(response)) return { status, body: response };
    return { status, body: openAiError(status, codeOfStatus(status, error.message), error.message) };
  } else if (error instanceof Error) {
    // Fastify's own errors (body parser, content type, URL) carry a status and a message for the caller.
    const status = (error as { statusCode?: unknown }).statusCode;
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return { status, body: openAiError(status, codeOfStatus(status, error.message), error.message) };
    }
  }
  return { status: 500, body: openAiError(500, 'internal', 'internal error') };
}

export function openAiError(
  status: number,
  code: ErrorCode,
  message: string,
  param: string | null = null,
): OpenAiError {
  const type = typeOfStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return { error: { message, type, code, param } };
}

function codeOfStatus(status: number, message: string): ErrorCode {
  if (status === 400 && /JSON/i.test(message)) return 'invalid-json';
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not-found';
  if (status === 413) return 'body-too-large';
  if (status === 429) return 'rate-limited';
  if (status === 503) return 'dependency-unavailable';
  return status < 500 ? 'invalid-request' : 'internal';
}

function isOpenAiError(response: unknown): response is OpenAiError {
  const error = (response as { error?: unknown } | null)?.error;
  return typeof error === 'object' && error !== null && 'message' in error;
}
