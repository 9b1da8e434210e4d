import { Module, type DynamicModule } from '@nestjs/common';
import type { JudgeConfig } from './config';
import { turnsAtOnce } from './core/turns-at-once';
import { Judge } from './judge';
import { JudgeBudget } from './judge-budget';
import { JudgeClient } from './judge-client';
import { judgeController } from './judge.controller';
import { JudgeEndpoint } from './judge-endpoint';
import { JudgeMetrics } from './judge-metrics';
import { Questions } from './questions';
import { StructuredOutput } from './structured-output';

@Module({ providers: [Judge, JudgeBudget, JudgeClient, JudgeEndpoint, JudgeMetrics, Questions, StructuredOutput] })
export class AppModule {
  static with(config: JudgeConfig): DynamicModule {
    const turns = turnsAtOnce(config.JUDGE_CONCURRENCY, config.EVAL_VOTES + config.HINT_VOTES);
    return { module: AppModule, controllers: [judgeController(turns)] };
  }
}
