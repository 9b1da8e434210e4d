import { parseConfig, startService } from '@hindcast/platform';
import { EngineModule } from './app.module';
import { EngineConfig } from './config';
import { ServedModels } from './served-models';

const config = parseConfig('engine', EngineConfig, process.env);

void startService({
  app: 'engine',
  bus: false,
  config,
  module: EngineModule,
  prepare: (app) => app.get(ServedModels).load(),
}).catch(() => {
  // startService has logged why.
  process.exitCode = 1;
});
