import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { announcesJson, bodyMemory, rawBodyOf, readBody } from '@hindcast/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard, callerOf } from './api-key.guard';
import { Chat } from './chat';
import { chatFormat } from './core/client-format';
import { forgetSource } from './core/exact-numbers';
import { sourced } from './request-source';

/**
 * `POST /v1/chat/completions`, on Fastify itself: Nest's way from a route to a controller's method takes a tenth of what all of a
 * request takes. What it throws is answered as what a controller throws.
 */
@Injectable()
export class ChatRoute {
  constructor(
    private readonly chat: Chat,
    private readonly guard: ApiKeyGuard,
    host: HttpAdapterHost,
  ) {
    const answer = (request: FastifyRequest, reply: FastifyReply): void => {
      // What is thrown after the answer began can only be told by the connection.
      this.complete(request, reply).catch((error: unknown) => {
        if (reply.sent || reply.raw.headersSent) reply.raw.destroy();
        else void reply.send(error);
      });
    };
    const server = host.httpAdapter.getInstance<FastifyInstance>();
    // The last hook of the route, behind those of the whole server: where it reads the body itself nothing of Fastify's follows.
    const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      if (!announcesJson(request)) return done();
      readBody(request, (error) => (error ? void reply.send(error) : answer(request, reply)));
    };
    server.post('/v1/chat/completions', { onRequest }, answer);
  }

  private async complete(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    this.guard.admit(request, reply);
    const body = sourced(request.body, rawBodyOf(request));
    const { tenant } = callerOf(request);
    const memory = bodyMemory(request);
    memory.add({ giveBack: () => forgetSource(body) });
    await this.chat.answer({ tenant, body, headers: request.headers, format: chatFormat, memory }, reply);
  }
}
