import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log, httpErrorOf, type LogContext } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { EngineRefusal } from './answer-stream';
import type { ClientConnection } from './client-connection';
import type { GatewayConfig } from './config';
import type { ClientFormat } from './core/client-format';
import { engineErrorResponse, errorBody, reportedBody, reportedStatus } from './core/engine-error';
import { retryAfterHeader, withoutKey } from './core/engine-key';
import { EnginesAway } from './engines-away';
import { GatewayMetrics } from './gateway-metrics';
import type { RoutedResponse } from './policy-router';

/** Where an error goes. */
export interface ErrorTarget {
  readonly call: { readonly format: ClientFormat };
  readonly reply: FastifyReply;
  readonly client: ClientConnection;
  readonly ids?: LogContext;
}

/** Answers a chat request with an error, in the client's format. */
@Injectable()
export class ErrorReplies {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {}

  /** The request is no chat request. */
  async invalid(format: ClientFormat, reply: FastifyReply, message: string, param: string | null): Promise<void> {
    const body = errorBody(message, 'invalid_request_error', 'invalid-request', param);
    await this.send(reply, 400, format.error(400, JSON.stringify(body)));
  }

  /** The engine's error with its status, in OpenAI's shape. */
  async passOn({ call, reply, ids }: ErrorTarget, { response, model }: RoutedResponse, bytes: Buffer): Promise<void> {
    // Without a byte-order mark, which belongs to no JSON.
    const text = new TextDecoder().decode(bytes);
    const { status, body } = engineErrorResponse(response.statusCode, this.withoutEngineKey(text));
    const retryAfter = retryAfterHeader(response.headers['retry-after']);
    if (retryAfter !== null) void reply.header('retry-after', retryAfter);
    this.log.warn('engine.refused', { ...ids, status: response.statusCode, model });
    await this.send(reply, status, call.format.error(status, body));
  }

  /** No byte of an answer was sent yet. A hijacked reply is answered by hand. */
  async refuse({ call, reply, client, ids }: ErrorTarget, error: unknown): Promise<void> {
    if (client.hasStarted) {
      this.log.error('chat.broken', { ...ids, error });
      return void reply.raw.destroy();
    }
    const { status, body } =
      error instanceof EngineRefusal
        ? { status: reportedStatus(error.reported), body: this.withoutEngineKey(reportedBody(error.reported)) }
        : { status: httpErrorOf(error).status, body: JSON.stringify(httpErrorOf(error).body) };
    const isAway = error instanceof EnginesAway;
    const isOurs = isAway || error instanceof HindcastError || error instanceof EngineRefusal;
    this.log[isOurs ? 'warn' : 'error']('chat.failed', { ...ids, status, error });
    if (!reply.sent) {
      if (status === 503) void reply.header('retry-after', String(isAway ? error.retryAfterSeconds : 1));
      return this.send(reply, status, call.format.error(status, body));
    }
    this.metrics.request(status);
    reply.raw
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(call.format.error(status, body));
  }

  private withoutEngineKey(text: string): string {
    return withoutKey(text, this.config.POLICY_API_KEY);
  }

  private async send(reply: FastifyReply, status: number, body: string): Promise<void> {
    this.metrics.request(status);
    await reply.status(status).type('application/json').send(body);
  }
}
