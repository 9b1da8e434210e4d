import 'reflect-metadata';
import { parseConfig, runApp, startService } from '@hindcast/platform';
import { EngineModule } from './app.module';
import { EngineConfig } from './config';
import { ServedModels } from './served-models';

void runApp(() =>
  startService({
    app: 'engine',
    bus: false,
    config: parseConfig('engine', EngineConfig, process.env),
    module: EngineModule,
    prepare: (app) => app.get(ServedModels).load(),
  }),
);
