import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import type { FastifyReply } from 'fastify';
import { throwError, type Observable } from 'rxjs';
import { httpErrorOf } from './http-error';
import type { Log } from './log';

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
    if (status >= 500 && !(error instanceof HttpException)) {
      this.log[error instanceof HindcastError ? 'warn' : 'error']('http.failed', { status, error });
    }
    // Headers that left with a streamed answer cannot be taken back; only the connection can still tell.
    if (reply.sent || reply.raw.headersSent) return void reply.raw.destroy();
    if (status === 503) void reply.header('retry-after', '1');
    void reply.status(status).type('application/json').send(body);
  }
}
