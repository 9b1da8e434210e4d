import { Body, Controller, HttpCode, Post, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { parseLoadRequest, parseUnloadRequest } from './core/lora-request';
import { RequestErrorFilter } from './request-error.filter';
import { ServedModels } from './served-models';

@Controller('v1')
@UseFilters(RequestErrorFilter)
export class LoraController {
  constructor(private readonly models: ServedModels) {}

  @Post('load_lora_adapter')
  @HttpCode(200)
  async load(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { name, path, inPlace } = parseLoadRequest(body);
    await this.models.loadAdapter(name, path, inPlace);
    await plain(reply, `Success: LoRA adapter '${name}' added successfully.`);
  }

  @Post('unload_lora_adapter')
  @HttpCode(200)
  async unload(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { name } = parseUnloadRequest(body);
    this.models.unload(name, 'adapter');
    await plain(reply, `Success: LoRA adapter '${name}' removed successfully.`);
  }
}

async function plain(reply: FastifyReply, text: string): Promise<void> {
  await reply.status(200).type('text/plain; charset=utf-8').send(text);
}
