import type { QueryName } from '@hindcast/contracts';
import { Bus, type QueryOf, type ReplyOf, type RunningService } from '@hindcast/platform';
import { startNatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { startPostgres } from './postgres';
import { startTestDispatcher } from './service';

/** A dispatcher with an empty ledger, and a broker and a PostgreSQL of its own. */
export interface TestLedger {
  readonly service: RunningService;
  /** NATS_URL and DATABASE_URL. */
  readonly env: { readonly NATS_URL: string; readonly DATABASE_URL: string };
  ask<Q extends QueryName>(name: Q, body: QueryOf<Q>): Promise<ReplyOf<Q>>;
  stop(): Promise<void>;
}

export async function startTestLedger(): Promise<TestLedger> {
  const [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  const env = { NATS_URL: nats.url, DATABASE_URL: await postgres.createDatabase() };
  const service = await startTestDispatcher(env);
  return {
    service,
    env,
    ask: (name, body) => service.app.get(Bus).request(name, body),
    stop: async () => {
      await service.close();
      await Promise.all([nats.stop(), postgres.stop()]);
    },
  };
}
