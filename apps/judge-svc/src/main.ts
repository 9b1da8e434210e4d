import 'reflect-metadata';
import { parseConfig, runApp, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { JudgeConfig } from './config';

void runApp(() =>
  startService({ app: 'judge-svc', config: parseConfig('judge-svc', JudgeConfig, process.env), module: AppModule }),
);
