import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { ApiKeyGuard } from './api-key.guard';
import { EngineModels } from './engine-models';

/** The engines' models, as the engines list them. */
@Controller('v1/models')
@UseGuards(ApiKeyGuard)
export class ModelsController {
  constructor(private readonly models: EngineModels) {}

  @Get()
  async list(): Promise<{ object: 'list'; data: readonly unknown[] }> {
    return { object: 'list', data: await this.all() };
  }

  @Get(':id')
  async one(@Param('id') id: string): Promise<unknown> {
    const model = (await this.all()).find((candidate) => (candidate as { id: string }).id === id);
    if (!model) throw new HindcastError('model-not-found', `the model '${id}' does not exist`);
    return model;
  }

  private async all(): Promise<readonly unknown[]> {
    const models = await this.models.all();
    if (!models) throw new HindcastError('engine-unreachable', 'no engine answers');
    return models;
  }
}
