import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { openAiError } from '@hindcast/platform';
import type { FastifyInstance } from 'fastify';
import { unservedRoute } from './core/unserved-routes';

/** Answers documented routes that are not served before their body is read: many of them take forms, which would be refused as such. */
@Injectable()
export class UnservedRoutes {
  constructor(host: HttpAdapterHost) {
    const server = host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onRequest', (request, reply, done) => {
      const message = request.is404 ? unservedRoute(request.method, request.url) : null;
      if (message === null) return done();
      void reply.status(404).send(openAiError(404, 'not-found', message));
    });
  }
}
