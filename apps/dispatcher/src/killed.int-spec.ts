import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { contracts, type BodyOf, type ContractName } from '@hindcast/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, published, startTestDispatcher, storeCapture } from './testing/service';
import { capturedTurn, pairedTurn, unhintedTurn } from './testing/turns';

let nats: NatsServer;
let postgres: TestPostgres;
let databaseUrl: string;

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  databaseUrl = await postgres.createDatabase();
});
afterAll(() => Promise.all([nats.stop(), postgres.stop()]));

/** A dispatcher in a process of its own. */
function start(env: Record<string, string>) {
  const register = path.join(__dirname, '../../../libs/platform/src/testing/register.cjs');
  const settings = {
    NATS_URL: nats.url,
    DATABASE_URL: databaseUrl,
    PORT: '0',
    LOG_LEVEL: 'silent',
    ACK_WAIT_SECONDS: '1',
  };
  return spawn(process.execPath, ['-r', register, path.join(__dirname, 'main.ts')], {
    env: { ...process.env, ...settings, ...env },
    stdio: 'ignore',
  });
}

async function publish(messages: readonly { name: ContractName; turnId: string | null; body: BodyOf<ContractName> }[]) {
  const connection = await connect({ servers: nats.url });
  for (const { name, turnId, body } of messages) {
    const message = { v: 1, turnId, tenant: 'acme', at: Date.now(), body };
    await jetstream(connection).publish(contracts[name].subject, JSON.stringify(message));
  }
  await connection.close();
}

test('killed after commits and before acknowledgements, in the middle of sessions that wait for their outcome: nothing is lost or decided twice', async () => {
  const first = await startTestDispatcher({ NATS_URL: nats.url, DATABASE_URL: databaseUrl });
  const sessions = Array.from({ length: 3 }, (_, n) => `${n}`.repeat(16));
  const turns = await Promise.all(
    sessions.flatMap((sessionId) =>
      [1, -1].map(async (evalScore) => {
        const responseId = randomUUID();
        return { turnId: await storeCapture(first, responseId), responseId, sessionId, evalScore: evalScore as -1 | 1 };
      }),
    ),
  );
  await first.close();
  const told = (name: 'turnCaptured' | 'turnPaired' | 'turnUnhinted') =>
    turns.map(({ turnId, responseId, sessionId, evalScore }) => {
      const ids = { responseId, sessionId, outcomePending: true };
      const bodies = {
        turnCaptured: capturedTurn(ids),
        turnPaired: pairedTurn(ids),
        turnUnhinted: unhintedTurn({ ...ids, evalScore }),
      };
      return { name, turnId, body: bodies[name] };
    });
  const outcomes = sessions.map((sessionId) => ({
    name: 'sessionOutcome' as const,
    turnId: null,
    body: { sessionId, reward: 1, comment: null },
  }));
  await publish([...told('turnCaptured'), ...told('turnPaired'), ...told('turnUnhinted'), ...outcomes]);

  const decided = () =>
    query<{ turnId: string; reward: number | null; reason: string | null }>(
      databaseUrl,
      'SELECT "turnId", reward, reason FROM decisions',
    );
  const all = async (): Promise<boolean> => (await decided()).length === turns.length;
  for (const CRASH_AT of ['before-ack', 'after-commit', 'before-ack', 'after-commit', 'after-commit', 'before-ack']) {
    const crashing = start({ CRASH_AT });
    const exit = once(crashing, 'exit');
    // With everything decided there is no commit left to be killed after.
    await Promise.race([exit, eventually(all)]);
    crashing.kill('SIGKILL');
    await exit;
  }
  const last = start({});
  await eventually(all);
  // 1 + (1 − 1)/2. A turn that the ledger did not know yet when its session was settled is no step of it: then 1 + 1, or 1 − 1, which is
  // no signal and is dropped.
  for (const { reward, reason } of await decided()) expect([1, 2, 'no-signal']).toContain(reward ?? reason);
  const kept = async () => (await query(databaseUrl, 'SELECT "turnId" FROM samples')).length;
  await eventually(
    async () => new Set((await published(nats.url, 'sampleReady')).map(({ turnId }) => turnId)).size === (await kept()),
  );
  await eventually(async () => (await query(databaseUrl, 'SELECT FROM outbox WHERE "sentAt" IS NULL')).length === 0);
  expect(await query(databaseUrl, 'SELECT * FROM held_turns')).toEqual([]);
  expect((await published(nats.url, 'sampleReady')).length).toBe(await kept());
  last.kill('SIGTERM');
  await once(last, 'exit');
}, 120_000);
