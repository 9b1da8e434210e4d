import { Body, Controller, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { Chat } from './chat';
import { chatFormat } from './core/client-format';

@Controller('v1')
@UseGuards(ApiKeyGuard)
export class ChatController {
  constructor(private readonly chat: Chat) {}

  @Post('chat/completions')
  async complete(
    @Tenant() tenant: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.chat.answer({ tenant, body, headers: request.headers, format: chatFormat }, reply);
  }
}
