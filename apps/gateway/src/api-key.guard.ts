import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from './config';
import { bearerToken } from './core/api-keys';

/** Tenant in open mode, where the gateway serves a loopback address only. */
export const OPEN_TENANT = 'default';

const tenants = new WeakMap<FastifyRequest, string>();

/** Tenant of the request, as its API key says. */
export const Tenant = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  return tenants.get(context.switchToHttp().getRequest<FastifyRequest>())!;
});

@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly keys: readonly { tenant: string; digest: Buffer }[];

  constructor(@Inject(CONFIG) config: GatewayConfig) {
    this.keys = config.API_KEYS.map(({ tenant, sha256 }) => ({ tenant, digest: Buffer.from(sha256, 'hex') }));
  }

  /** @throws HindcastError `unauthorized` */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    tenants.set(request, this.keys.length === 0 ? OPEN_TENANT : this.tenantOf(request.headers.authorization));
    return true;
  }

  private tenantOf(header: string | undefined): string {
    const token = bearerToken(header);
    if (token === null) throw new HindcastError('unauthorized', 'an API key is needed: Authorization: Bearer <key>');
    const digest = createHash('sha256').update(token).digest();
    let tenant: string | null = null;
    // Every key is compared: how long it takes says nothing about which one matched.
    for (const key of this.keys) if (timingSafeEqual(key.digest, digest)) tenant = key.tenant;
    if (tenant === null) throw new HindcastError('unauthorized', 'the API key is not known');
    return tenant;
  }
}
