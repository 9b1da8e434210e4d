import { Body, Controller, HttpCode, Post, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { parseLoadWeights, parseUnloadWeights } from './core/weights-request';
import { RequestErrorFilter } from './request-error.filter';
import { ServedModels } from './served-models';

/**
 * Whole weights of the base model's architecture, served beside it under a name of their own: what vLLM's adapter calls are for adapters.
 * vLLM itself has one set of weights at a time.
 */
@Controller('v1')
@UseFilters(RequestErrorFilter)
export class WeightsController {
  constructor(private readonly models: ServedModels) {}

  @Post('load_weights')
  @HttpCode(200)
  async load(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { name, path } = parseLoadWeights(body);
    await this.models.loadWeights(name, path);
    await plain(reply, `Success: the weights '${name}' were loaded.`);
  }

  @Post('unload_weights')
  @HttpCode(200)
  async unload(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { name } = parseUnloadWeights(body);
    this.models.unload(name, 'weights');
    await plain(reply, `Success: the weights '${name}' were unloaded.`);
  }
}

async function plain(reply: FastifyReply, text: string): Promise<void> {
  await reply.status(200).type('text/plain; charset=utf-8').send(text);
}
