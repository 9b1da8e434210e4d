import '@hindcast/platform/first';
import 'reflect-metadata';
import { parseConfig, runApp, startService } from '@hindcast/platform';
import { EngineModule } from './app.module';
import { loadBaseModel } from './base-model';
import { EngineConfig } from './config';
import { ServedModels } from './served-models';

void runApp(() => {
  const config = parseConfig('engine', EngineConfig, process.env);
  return startService({
    app: 'engine',
    bus: false,
    config,
    module: EngineModule,
    prepare: (app) => loadBaseModel(app.get(ServedModels), config.MODEL_DIR),
  });
});
