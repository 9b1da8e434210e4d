import 'reflect-metadata';
import { parseConfig, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { JudgeConfig } from './config';

void startService({ app: 'judge-svc', config: parseConfig('judge-svc', JudgeConfig, process.env), module: AppModule });
