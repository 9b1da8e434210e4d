import { Body, Controller, Post, Req, Res, UseGuards } from '@nestjs/common';
import { rawBodyOf } from '@hindcast/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from './api-key.guard';
import { sourced } from './request-source';
import { PassThrough } from './pass-through';

/** Routes that are the engine's own: handed on, never captured. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class PassThroughController {
  constructor(private readonly passThrough: PassThrough) {}

  @Post('completions')
  async completions(@Body() body: unknown, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.passThrough.answer('completions', sourced(body, rawBodyOf(request)), reply);
  }

  @Post('embeddings')
  async embeddings(@Body() body: unknown, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.passThrough.answer('embeddings', sourced(body, rawBodyOf(request)), reply);
  }
}
