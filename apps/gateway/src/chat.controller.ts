import { Body, Controller, Post, Req, Res, UseGuards, type RawBodyRequest } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { Chat } from './chat';
import { chatFormat } from './core/client-format';
import { sourced } from './request-source';

@Controller('v1')
@UseGuards(ApiKeyGuard)
export class ChatController {
  constructor(private readonly chat: Chat) {}

  @Post('chat/completions')
  async complete(
    @Tenant() tenant: string,
    @Body() body: unknown,
    @Req() request: RawBodyRequest<FastifyRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const call = { tenant, body: sourced(body, request.rawBody), headers: request.headers, format: chatFormat };
    await this.chat.answer(call, reply);
  }
}
