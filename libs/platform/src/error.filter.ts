import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HindcastError, type ErrorCode } from '@hindcast/contracts';
import type { FastifyReply } from 'fastify';
import { throwError, type Observable } from 'rxjs';
import { Log } from './log';

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
  unauthorized: 401,
  'engine-unreachable': 502,
  'engine-timeout': 504,
  'engine-invalid-response': 502,
  'engine-stream-broken': 502,
  'ledger-unavailable': 503,
  'dependency-unavailable': 503,
};

/**
 * Everything that a handler throws, at the HTTP edge in OpenAI's error shape. On the bus it passes the error on as it is: Nest's own
 * filter would replace it by a generic object, and the class decides how the message is settled.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(error: unknown, host: ArgumentsHost): Observable<never> | void {
    if (host.getType() === 'rpc') return throwError(() => error);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { status, body } = httpErrorOf(error);
    if (status >= 500) this.log.error('http.failed', { status, error });
    // Headers that left with a streamed answer cannot be taken back; only the connection can still tell.
    if (reply.sent || reply.raw.headersSent) return void reply.raw.destroy();
    if (status === 503) void reply.header('retry-after', '1');
    void reply.status(status).type('application/json').send(body);
  }
}

/** Status and body for any thrown value. What is not meant for the caller becomes `internal`. */
export function httpErrorOf(error: unknown): { status: number; body: OpenAiError } {
  if (error instanceof HindcastError) {
    const status = statusOfCode[error.code] ?? 500;
    return { status, body: openAiError(status, error.code, status === 500 ? 'internal error' : error.message) };
  }
  if (error instanceof HttpException) {
    const status = error.getStatus();
    return { status, body: openAiError(status, codeOfStatus(status, error.message), error.message) };
  }
  // Fastify's own errors (body parser, content type) carry a status and a message for the caller.
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (error instanceof Error && typeof status === 'number' && status >= 400 && status < 500) {
    return { status, body: openAiError(status, codeOfStatus(status, error.message), error.message) };
  }
  return { status: 500, body: openAiError(500, 'internal', 'internal error') };
}

function codeOfStatus(status: number, message: string): string {
  if (status === 400 && /JSON/i.test(message)) return 'invalid-json';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404) return 'not-found';
  if (status === 413) return 'body-too-large';
  return status < 500 ? 'invalid-request' : 'internal';
}

function openAiError(status: number, code: string, message: string): OpenAiError {
  const type = status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message, type, code, param: null } };
}
