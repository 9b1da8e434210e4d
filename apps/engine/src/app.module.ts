import { Module } from '@nestjs/common';
import { ChatController } from './chat.controller';
import { CompletionsController } from './completions.controller';
import { EngineMetrics } from './engine-metrics';
import { Generator } from './generator';
import { LoraController } from './lora.controller';
import { ModelsController } from './models.controller';
import { ServedModels } from './served-models';
import { TokenizerController } from './tokenizer.controller';
import { WeightsController } from './weights.controller';

@Module({
  controllers: [
    ChatController,
    CompletionsController,
    TokenizerController,
    ModelsController,
    LoraController,
    WeightsController,
  ],
  providers: [ServedModels, Generator, EngineMetrics],
})
export class EngineModule {}
