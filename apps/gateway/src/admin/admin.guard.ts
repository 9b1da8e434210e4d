import { Injectable, createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { HindcastError } from '@hindcast/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Callers } from '../callers';
import type { Caller } from '../core/api-keys';
import { strangeness } from '../core/admin/access';
import { KeyRing } from '../key-ring';

const ADMIN_ROUTE = '/admin/';
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

const admins = new WeakMap<FastifyRequest, Caller>();

/** Who sent the request. Only behind {@link AdminGuard}. */
export const Admin = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  admins.get(context.switchToHttp().getRequest<FastifyRequest>())!,
);

/** Lets administrators pass, and nobody whom a page of another origin sent. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly callers: Callers,
    private readonly ring: KeyRing,
    host: HttpAdapterHost,
  ) {
    // Before the body is read: who may not ask does not get to fill the memory.
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
      if (!request.routeOptions.url?.startsWith(ADMIN_ROUTE)) return done();
      // On the raw response: a stream takes over from Fastify and would lose the reply's own headers.
      for (const [name, value] of Object.entries(HEADERS)) reply.raw.setHeader(name, value);
      if (request.method === 'OPTIONS') return done();
      try {
        admins.set(request, this.admin(request));
        done();
      } catch (error) {
        done(error as Error);
      }
    });
  }

  /** @throws HindcastError `unauthorized` or `forbidden` */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!admins.has(request)) admins.set(request, this.admin(request));
    return true;
  }

  /** Whether the key that a request showed is still an administrator's. */
  mayStill({ headers }: FastifyRequest): boolean {
    try {
      return this.callers.callerOf(headers, true).isAdmin;
    } catch {
      return false;
    }
  }

  private admin({ headers, method }: FastifyRequest): Caller {
    const caller = this.callers.callerOf(headers, true);
    if (!caller.isAdmin) throw new HindcastError('forbidden', 'this API key is no administrator’s');
    const fetchSite = headers['sec-fetch-site'];
    const strange = strangeness(
      {
        method,
        host: headers.host,
        origin: headers.origin,
        fetchSite: Array.isArray(fetchSite) ? fetchSite.join() : fetchSite,
        contentType: headers['content-type'],
      },
      this.ring.isOpen,
    );
    if (strange !== null) throw new HindcastError('forbidden', strange);
    return caller;
  }
}
