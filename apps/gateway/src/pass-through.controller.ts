import { Body, Controller, Post, Req, Res, UseGuards, type RawBodyRequest } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from './api-key.guard';
import { sourced } from './request-source';
import { PassThrough } from './pass-through';

type Sourced = RawBodyRequest<FastifyRequest>;

/** Routes that are the engine's own: handed on, never captured. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class PassThroughController {
  constructor(private readonly passThrough: PassThrough) {}

  @Post('completions')
  async completions(@Body() body: unknown, @Req() request: Sourced, @Res() reply: FastifyReply): Promise<void> {
    await this.passThrough.answer('completions', sourced(body, request.rawBody), reply);
  }

  @Post('embeddings')
  async embeddings(@Body() body: unknown, @Req() request: Sourced, @Res() reply: FastifyReply): Promise<void> {
    await this.passThrough.answer('embeddings', sourced(body, request.rawBody), reply);
  }
}
