import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RequestError } from './core/request-error';

/** Refusals leave in vLLM's error shape; everything else is the platform's. */
@Catch(RequestError)
export class RequestErrorFilter implements ExceptionFilter<RequestError> {
  catch(error: RequestError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    void reply.status(error.status).type('application/json').send(error.toJSON());
  }
}
