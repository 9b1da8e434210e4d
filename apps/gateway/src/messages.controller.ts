import { Body, Controller, HttpCode, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, bodyMemory } from '@hindcast/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { Chat } from './chat';
import { ClientConnection } from './client-connection';
import type { GatewayConfig } from './config';
import { messagesFormat } from './core/messages/messages-format';
import { countedRequest, messagesRequest } from './core/messages/messages-request';
import { ErrorReplies } from './error-replies';
import { EngineRefusedCount, TokenCounter } from './token-counter';

/** Anthropic's Messages API, answered by way of chat completions. */
@Controller('v1/messages')
@UseGuards(ApiKeyGuard)
export class MessagesController {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly chat: Chat,
    private readonly counter: TokenCounter,
    private readonly errors: ErrorReplies,
  ) {}

  @Post()
  async create(
    @Tenant() tenant: string,
    @Body() body: unknown,
    @Req() received: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const request = messagesRequest(body, this.config.POLICY_DIALECT);
    if (!request.ok) return this.errors.invalid(messagesFormat(), reply, request.message, request.param);
    const { chat, options, user } = request;
    const { headers } = received;
    const format = messagesFormat(options);
    await this.chat.answer({ tenant, body: chat, headers, format, user, memory: bodyMemory(received) }, reply);
  }

  @Post('count_tokens')
  @HttpCode(200)
  async countTokens(
    @Body() body: unknown,
    @Req() { headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ input_tokens: number }> {
    const request = countedRequest(body, this.config.POLICY_DIALECT);
    if (!request.ok) throw new HindcastError('invalid-request', request.message);
    const gone = new AbortController();
    new ClientConnection(reply.raw, this.config.CLIENT_TIMEOUT_MS).onGone(() => gone.abort());
    try {
      return { input_tokens: await this.counter.count(request.model, request.prompt, headers, gone.signal) };
    } catch (error) {
      if (error instanceof EngineRefusedCount && error.retryAfter !== null)
        void reply.header('retry-after', error.retryAfter);
      throw error;
    }
  }
}
