import { AckPolicy, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, send, startTestDispatcher, storeCapture } from './testing/service';
import { pairedTurn } from './testing/turns';

const JUDGE = 'judge-svc--rl-v1-turn-paired';

let nats: NatsServer;
let postgres: TestPostgres;
let service: RunningService;

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  service = await startTestDispatcher({ NATS_URL: nats.url, DATABASE_URL: await postgres.createDatabase() });
});
afterAll(async () => {
  await service.close();
  await Promise.all([nats.stop(), postgres.stop()]);
});

async function gauge(name: string, labels: string): Promise<number | null> {
  const text = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`hindcast_bus_${name}{${labels}`));
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ')));
}

/** Where the server takes its time to answer, a scrape goes without the number. */
const becomes = (name: string, labels: string, value: number): Promise<void> =>
  eventually(async () => (await gauge(name, labels)) === value);

test('/metrics tells the lag of a service that does not run, and what the streams hold', async () => {
  expect(await gauge('consumer_pending_messages', `consumer="${JUDGE}"`)).toBeNull();

  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  const [filter_subject, ack_policy] = ['rl.v1.turn.paired', AckPolicy.Explicit];
  await manager.consumers.add('RL', { durable_name: JUDGE, filter_subject, ack_policy });
  await manager.consumers.add('RL', { durable_name: 'of-somebody-else', filter_subject, ack_policy });
  await connection.close();

  const turnIds = ['1', '2', '3'].map((n) => `dddddddd-0000-4000-8000-00000000000${n}`);
  for (const turnId of turnIds) await send(service, 'turnPaired', turnId, pairedTurn({ responseId: turnId }));
  await eventually(async () => (await gauge('consumer_pending_messages', `consumer="${JUDGE}"`)) === 3);
  await becomes('consumer_ack_pending_messages', `consumer="${JUDGE}"`, 0);
  // The dispatcher's own consumer of the same subject has taken them.
  await eventually(
    async () => (await gauge('consumer_pending_messages', 'consumer="dispatcher--rl-v1-turn-paired"')) === 0,
  );
  expect(await gauge('consumer_pending_messages', 'consumer="of-somebody-else"')).toBeNull();
  await becomes('stream_messages', 'stream="RL"', 3);
  await becomes('stream_messages', 'stream="RL_DEAD"', 0);
  await storeCapture(service, 'r-1');
  await becomes('stream_messages', 'stream="KV_captures"', 1);
  expect(await gauge('stream_bytes', 'stream="KV_captures"')).toBeGreaterThan(0);
});

test('what is not known has no number', async () => {
  const ledgerUp = async (): Promise<boolean> =>
    (await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text()).includes(
      'hindcast_ledger_up{app="dispatcher"} 1',
    );
  // A check that a busy machine keeps waiting fails once.
  await eventually(ledgerUp);
  await nats.kill();
  await eventually(async () => (await gauge('stream_messages', 'stream="RL"')) === null);
  await postgres.stop();
  await eventually(async () => !(await ledgerUp()));
  const text = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  expect(text).not.toMatch(/^hindcast_ledger_(turns|cases|waiting_samples|held_turns)\{/m);
});
