import { startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { published, send, startTestDispatcher, storeCapture, until } from './testing/service';
import { scoredTurn } from './testing/turns';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

test.each([
  { RECORD_TURNS: '1', from: 'its recording', bodies: 0, recordings: 1 },
  { RECORD_TURNS: '0', from: 'the outbox', bodies: 1, recordings: 0 },
])('a sample that a crash left unsent is sent from $from, the same to the bit', async ({ RECORD_TURNS, ...left }) => {
  const [nats, url] = [await startNatsServer(), await postgres.createDatabase()];
  const env = { NATS_URL: nats.url, DATABASE_URL: url, RECORD_TURNS };
  const count = async (what: string): Promise<number> =>
    Number((await query<{ count: string }>(url, `SELECT count(*) FROM ${what}`))[0]!.count);

  const first = await startTestDispatcher(env);
  const turnId = await storeCapture(first, 'r-1');
  await send(first, 'turnScored', turnId, scoredTurn({ responseId: 'r-1' }));
  const samples = async () => (await published(nats.url, 'sampleReady')).map((message) => message.body);
  await until(async () => (await samples()).length === 1);
  await until(async () => (await count('outbox WHERE "sentAt" IS NOT NULL')) === 1);
  const [sent] = await samples();
  await first.close();
  expect([await count('outbox WHERE body IS NOT NULL'), await count('recordings')]).toEqual([
    left.bodies,
    left.recordings,
  ]);

  // As after a crash between commit and publication; and the capture is gone with the broker's store.
  await nats.restart({ empty: true });
  await query(url, 'UPDATE outbox SET "sentAt" = NULL');
  const second = await startTestDispatcher(env);
  await until(async () => (await samples()).length === 1);
  expect(JSON.stringify((await samples())[0])).toBe(JSON.stringify(sent));
  await until(async () => (await count('outbox WHERE "sentAt" IS NULL')) === 0);
  await second.close();
  await nats.stop();
});

test('old recordings are deleted, but none whose sample is still to be sent', async () => {
  const [nats, url] = [await startNatsServer(), await postgres.createDatabase()];
  const env = { NATS_URL: nats.url, DATABASE_URL: url };
  const first = await startTestDispatcher(env);
  const turnIds = [
    await storeCapture(first, 'r-1'),
    await storeCapture(first, 'r-2'),
    await storeCapture(first, 'r-3'),
  ];
  for (const turnId of turnIds) await send(first, 'turnScored', turnId, scoredTurn({ responseId: turnId }));
  const recorded = async () =>
    (await query<{ turnId: string }>(url, 'SELECT "turnId" FROM recordings')).map((row) => row.turnId).sort();
  await until(async () => (await query(url, 'SELECT FROM outbox WHERE "sentAt" IS NOT NULL')).length === 3);
  await first.close();
  await query(url, `UPDATE recordings SET "decidedAt" = now() - interval '31 days' WHERE "turnId" <> '${turnIds[2]}'`);
  // Of a dispatcher that is about to send it.
  await query(
    url,
    `UPDATE outbox SET "sentAt" = NULL, "createdAt" = now() + interval '1 day' WHERE "turnId" = '${turnIds[1]}'`,
  );
  const second = await startTestDispatcher(env);
  await until(async () => (await recorded()).length === 2);
  expect(await recorded()).toEqual([turnIds[1]!, turnIds[2]!].sort());
  await second.close();
  await nats.stop();
});
