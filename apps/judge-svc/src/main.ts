import '@hindcast/platform/first';
import 'reflect-metadata';
import { parseConfig, runApp, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { JudgeConfig } from './config';

void runApp(() => {
  const config = parseConfig('judge-svc', JudgeConfig, process.env);
  return startService({ app: 'judge-svc', config, module: AppModule.with(config) });
});
