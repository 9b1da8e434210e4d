import { startService, type RunningService, type ServiceOptions } from '@hindcast/platform';
import { AppModule } from './app.module';
import type { TrainerConfig } from './config';
import { Trainer } from './trainer';

/** Starts the trainer; it takes its folder and loads its model before it takes messages. */
export async function startTrainer(
  config: TrainerConfig,
  options: Partial<ServiceOptions> = {},
): Promise<RunningService> {
  return await startService({
    app: 'trainer',
    config,
    module: AppModule,
    prepare: (app) => app.get(Trainer).start(),
    ...options,
  });
}
