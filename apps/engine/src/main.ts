import 'reflect-metadata';
import { parseConfig, startService } from '@hindcast/platform';
import { EngineModule } from './app.module';
import { EngineConfig } from './config';
import { ServedModels } from './served-models';

async function main(): Promise<void> {
  await startService({
    app: 'engine',
    bus: false,
    config: parseConfig('engine', EngineConfig, process.env),
    module: EngineModule,
    prepare: (app) => app.get(ServedModels).load(),
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
