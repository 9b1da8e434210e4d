import { encodeLogProbs, encodeNumbers, type TrainedSample } from '@hindcast/contracts';
import { startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, published, send, startTestDispatcher, storeCapture } from './testing/service';
import { pairedTurn, scoredTurn } from './testing/turns';

const trained: TrainedSample = {
  version: 4,
  advantages: encodeNumbers([1, 2, 3]),
  oldLogProbs: encodeLogProbs([-1, -1, -1]),
  newLogProbs: null,
  clipEpsilonLow: 0.2,
  clipEpsilonHigh: 0.28,
};

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
  await eventually(async () => (await samples()).length === 1);
  await eventually(async () => (await count('outbox WHERE "sentAt" IS NOT NULL')) === 1);
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
  await eventually(async () => (await samples()).length === 1);
  expect(JSON.stringify((await samples())[0])).toBe(JSON.stringify(sent));
  await eventually(async () => (await count('outbox WHERE "sentAt" IS NULL')) === 0);
  await second.close();
  await nats.stop();
});

test('without recordings nothing is kept of texts and tokens', async () => {
  const [nats, url] = [await startNatsServer(), await postgres.createDatabase()];
  const service = await startTestDispatcher({ NATS_URL: nats.url, DATABASE_URL: url, RECORD_TURNS: '0' });
  const turnId = await storeCapture(service, 'r-1');
  await send(service, 'turnPaired', turnId, pairedTurn({ responseId: 'r-1' }));
  await send(service, 'turnScored', turnId, scoredTurn({ responseId: 'r-1' }));
  await eventually(async () => (await query(url, 'SELECT FROM decisions')).length === 1);
  await send(service, 'sampleTrained', turnId, trained);
  const metrics = async () => (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  await eventually(async () => /ledger_messages_total\{subject="rl\.v1\.sample\.trained"/.test(await metrics()));
  expect(await query(url, 'SELECT "turnId" FROM turn_texts UNION ALL SELECT "turnId" FROM trained_tokens')).toEqual([]);
  await service.close();
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
  for (const turnId of turnIds) await send(first, 'turnPaired', turnId, pairedTurn({ responseId: turnId }));
  for (const turnId of turnIds) await send(first, 'turnScored', turnId, scoredTurn({ responseId: turnId }));
  const kept = async (table: string) =>
    (await query<{ turnId: string }>(url, `SELECT "turnId" FROM ${table}`)).map((row) => row.turnId);
  await eventually(async () => (await kept('decisions')).length === 3);
  for (const turnId of turnIds) await send(first, 'sampleTrained', turnId, trained);
  await eventually(async () => (await kept('trained_tokens')).length === 3 && (await kept('turn_texts')).length === 3);
  const recorded = async () =>
    (await query<{ turnId: string }>(url, 'SELECT "turnId" FROM recordings')).map((row) => row.turnId).sort();
  await eventually(async () => (await query(url, 'SELECT FROM outbox WHERE "sentAt" IS NOT NULL')).length === 3);
  await first.close();
  await query(url, `UPDATE recordings SET "decidedAt" = now() - interval '31 days' WHERE "turnId" <> '${turnIds[2]}'`);
  for (const table of ['turn_texts', 'trained_tokens'])
    await query(url, `UPDATE ${table} SET "storedAt" = now() - interval '31 days' WHERE "turnId" <> '${turnIds[2]}'`);
  // Of a dispatcher that is about to send it.
  await query(
    url,
    `UPDATE outbox SET "sentAt" = NULL, "createdAt" = now() + interval '1 day' WHERE "turnId" = '${turnIds[1]}'`,
  );
  const second = await startTestDispatcher(env);
  await eventually(async () => (await recorded()).length === 2);
  expect(await recorded()).toEqual([turnIds[1]!, turnIds[2]!].sort());
  await eventually(async () => (await kept('trained_tokens')).length === 1 && (await kept('turn_texts')).length === 1);
  expect([await kept('turn_texts'), await kept('trained_tokens')]).toEqual([[turnIds[2]], [turnIds[2]]]);
  await second.close();
  await nats.stop();
});
