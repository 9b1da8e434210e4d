import { Injectable, createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Callers } from './callers';
import type { Caller } from './core/api-keys';
import { rateLimitHeaders, retryAfterSeconds } from './core/rate-limit';
import { KeyLimits } from './key-limits';

/** Routes on which an engine computes: limits count for these. */
export const LIMITED_ROUTES = new Set([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/messages',
  '/v1/messages/count_tokens',
]);

/** What an API key is needed for. */
const GUARDED = /^\/v1\//;

const callers = new WeakMap<FastifyRequest, Caller>();

/** Who sent the request. Only behind {@link ApiKeyGuard}. */
export const callerOf = (request: FastifyRequest): Caller => callers.get(request)!;

/** Tenant of the request, as its API key says. */
export const Tenant = createParamDecorator(
  (_: unknown, context: ExecutionContext): string =>
    callerOf(context.switchToHttp().getRequest<FastifyRequest>()).tenant,
);

/** Knows the caller by the API key, and holds the caller to the key's limits. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly known: Callers,
    private readonly limits: KeyLimits,
    host: HttpAdapterHost,
  ) {
    // Before the body is read: who has no key does not get to fill the memory.
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, _reply, done) => {
      try {
        if (request.method !== 'OPTIONS' && !request.is404 && GUARDED.test(request.url))
          callers.set(request, this.known.callerOf(request.headers));
        done();
      } catch (error) {
        done(error as Error);
      }
    });
  }

  /** @throws HindcastError `unauthorized` or `rate-limited` */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    this.admit(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
    return true;
  }

  /** @throws HindcastError `unauthorized` or `rate-limited` */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const caller = callers.get(request) ?? this.known.callerOf(request.headers);
    callers.set(request, caller);
    if (LIMITED_ROUTES.has(request.routeOptions.url ?? '')) this.count(caller, reply);
  }

  private count(caller: Caller, reply: FastifyReply): void {
    const admission = this.limits.admit(caller);
    // On the raw response: a streamed answer takes over from Fastify and would lose the reply's own headers.
    for (const [name, value] of Object.entries(rateLimitHeaders(admission))) reply.raw.setHeader(name, value);
    if (admission.reached === null) return;
    const seconds = retryAfterSeconds(admission.waitMs);
    reply.raw.setHeader('retry-after', String(seconds));
    const limit = admission[admission.reached]!.limit;
    throw new HindcastError(
      'rate-limited',
      `the limit of ${limit} ${admission.reached} per minute of this API key is reached; try again in ${seconds} s`,
    );
  }
}
