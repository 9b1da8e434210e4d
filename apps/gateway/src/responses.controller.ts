import { Body, Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { bodyMemory } from '@hindcast/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { Chat } from './chat';
import { errorBody } from './core/engine-error';
import { capturedResponse } from './core/responses/captured-response';
import { RequestRefusal } from './core/responses/request-refusal';
import { turnOfResponse } from './core/responses/response-ids';
import { responsesFormat } from './core/responses/responses-format';
import { chatBody, namedTurns } from './core/responses/responses-request';
import { GatewayMetrics } from './gateway-metrics';
import { PastResponses } from './past-responses';

/** OpenAI's Responses API, answered by way of chat completions. */
@Controller('v1/responses')
@UseGuards(ApiKeyGuard)
export class ResponsesController {
  constructor(
    private readonly chat: Chat,
    private readonly past: PastResponses,
    private readonly metrics: GatewayMetrics,
  ) {}

  /** @throws DependencyUnavailable when the request names an earlier answer while NATS is away */
  @Post()
  async create(
    @Tenant() tenant: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const past = await this.past.answers(tenant, namedTurns(body));
    let translated: Record<string, unknown>;
    try {
      translated = chatBody(body, past);
    } catch (error) {
      if (error instanceof RequestRefusal) return this.refuse(reply, error);
      throw error;
    }
    const format = responsesFormat(body as Record<string, unknown>, Math.floor(Date.now() / 1000));
    const { headers } = request;
    await this.chat.answer({ tenant, body: translated, headers, format, memory: bodyMemory(request) }, reply);
  }

  /** A captured response. What its request said beside the conversation is not kept. */
  @Get(':id')
  async retrieve(@Tenant() tenant: string, @Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    const turnId = turnOfResponse(id);
    const capture = turnId === null ? null : await this.past.capture(tenant, turnId);
    if (capture) return void (await reply.status(200).send(capturedResponse(capture)));
    await this.refuse(reply, new RequestRefusal(`Response with id '${id.slice(0, 100)}' not found.`, 'id', 404, null));
  }

  private async refuse(reply: FastifyReply, refusal: RequestRefusal): Promise<void> {
    const { status, message, code, param } = refusal;
    this.metrics.request(status);
    await reply
      .status(status)
      .type('application/json')
      .send(errorBody(message, 'invalid_request_error', code, param));
  }
}
