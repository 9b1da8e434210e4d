import { Controller, Get, HttpCode, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { modelList } from './core/vllm-shapes';
import { RequestErrorFilter } from './request-error.filter';
import { ServedModels } from './served-models';

@Controller()
@UseFilters(RequestErrorFilter)
export class ModelsController {
  constructor(private readonly models: ServedModels) {}

  @Get('v1/models')
  list(): object {
    return modelList(this.models.list());
  }

  /** 200 without a body, once the model is loaded. */
  @Get('health')
  @HttpCode(200)
  async health(@Res() reply: FastifyReply): Promise<void> {
    await reply.send();
  }
}
