import { Body, Controller, Post, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiKeyGuard } from './api-key.guard';
import { PassThrough } from './pass-through';

/** Routes that are the engine's own: handed on, never captured. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class PassThroughController {
  constructor(private readonly passThrough: PassThrough) {}

  @Post('completions')
  async completions(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.passThrough.answer('completions', body, reply);
  }

  @Post('embeddings')
  async embeddings(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.passThrough.answer('embeddings', body, reply);
  }
}
