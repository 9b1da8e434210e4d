import 'reflect-metadata';
import { parseConfig, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { DemoJudgeConfig } from './config';

void startService({
  app: 'demo-judge',
  config: parseConfig('demo-judge', DemoJudgeConfig, process.env),
  module: AppModule,
  bus: false,
});
