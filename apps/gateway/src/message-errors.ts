import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { messagesErrorBody } from './core/messages/messages-error';

const MESSAGES_PATH = /^\/v1\/messages(?:[/?]|$)/;
const NOT_IMPLEMENTED = 501;

/**
 * Every error under `/v1/messages` in Anthropic's shape, also those that never reach its controller: a key that is not known, a body
 * that is too large or no JSON, a route that does not exist.
 */
@Injectable()
export class MessageErrors {
  constructor(host: HttpAdapterHost) {
    const server = host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onSend', async (request, reply, payload) => {
      if (reply.statusCode < 400 || !MESSAGES_PATH.test(request.url)) return payload;
      // Anthropic's SDKs try every 5xx again, unless they are told that it is no use.
      if (reply.statusCode === NOT_IMPLEMENTED) void reply.header('x-should-retry', 'false');
      const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
      return isText ? messagesErrorBody(reply.statusCode, payload.toString()) : payload;
    });
  }
}
