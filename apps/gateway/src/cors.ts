import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONFIG } from '@hindcast/platform';
import type { FastifyInstance } from 'fastify';
import type { GatewayConfig } from './config';
import { corsHeaders } from './core/cors';

/** Lets pages of the origins in CORS_ORIGINS read answers, and answers their preflights. Without that list it does nothing. */
@Injectable()
export class Cors {
  constructor(@Inject(CONFIG) { CORS_ORIGINS }: GatewayConfig, host: HttpAdapterHost) {
    if (CORS_ORIGINS.length === 0) return;
    const server = host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onRequest', async (request, reply) => {
      const { origin, 'access-control-request-method': method } = request.headers;
      const isPreflight = request.method === 'OPTIONS' && method !== undefined;
      const asked = isPreflight ? (request.headers['access-control-request-headers'] ?? '') : null;
      // On the raw response: a streamed answer takes over from Fastify and would lose the reply's own headers.
      reply.raw.setHeader('vary', 'Origin, Access-Control-Request-Headers');
      const headers = corsHeaders(CORS_ORIGINS, origin, asked);
      if (!headers) return;
      for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
      if (isPreflight) await reply.status(204).send();
    });
  }
}
