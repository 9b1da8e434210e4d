import { startService, type RunningService, type ServiceOptions } from '@hindcast/platform';
import { DispatcherModule } from './app.module';
import type { DispatcherConfig } from './config';
import { BusGauges } from './bus-gauges';
import { CountKeeper } from './count-keeper';
import { CurrentVersion } from './current-version';
import { Database } from './database';
import { LedgerGauges } from './ledger-gauges';
import { Outbox } from './outbox';
import { Queries } from './queries';
import { RecordKeeper } from './record-keeper';
import { SessionOutcomes } from './session-outcomes';

/** Starts the dispatcher: database first, then queries and outbox, then the messages. */
export function startDispatcher(
  config: Readonly<DispatcherConfig>,
  options: Partial<Pick<ServiceOptions, 'announce' | 'timing'>> = {},
): Promise<RunningService> {
  return startService({
    app: 'dispatcher',
    config,
    module: DispatcherModule,
    prepare: async (app) => {
      await app.get(Database).open();
      app.get(Queries).start();
      app.get(LedgerGauges).start();
      app.get(BusGauges).start();
      app.get(CurrentVersion).start();
      app.get(Outbox).start();
      app.get(SessionOutcomes).start();
      app.get(RecordKeeper).start();
      app.get(CountKeeper).start();
    },
    ...options,
  });
}
