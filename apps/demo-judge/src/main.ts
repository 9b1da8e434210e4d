import '@hindcast/platform/first';
import 'reflect-metadata';
import { parseConfig, runApp, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { DemoJudgeConfig } from './config';

void runApp(() =>
  startService({
    app: 'demo-judge',
    config: parseConfig('demo-judge', DemoJudgeConfig, process.env),
    module: AppModule,
    bus: false,
  }),
);
