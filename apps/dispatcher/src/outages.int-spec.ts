import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Bus, type RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { eventually, published, send, startTestDispatcher, storeCapture } from './testing/service';
import { capturedTurn, pairedTurn, unhintedTurn } from './testing/turns';

let nats: NatsServer;
let dataDir: string;
const services: RunningService[] = [];

beforeAll(async () => {
  nats = await startNatsServer();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'hindcast-dispatcher-'));
  const env = { NATS_URL: nats.url, DATA_DIR: dataDir };
  services.push(...(await Promise.all([startTestDispatcher(env), startTestDispatcher(env)])));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await nats.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const status = () => services[0]!.app.get(Bus).request('status', { tenant: null });

test('two dispatchers on one folder, the database and then the broker killed under load: every turn is decided once', async () => {
  const turnIds: string[] = [];
  const feed = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const responseId = `r-${turnIds.length}`;
      const turnId = await storeCapture(services[0]!, responseId);
      turnIds.push(turnId);
      await send(services[0]!, 'turnCaptured', turnId, capturedTurn({ responseId }));
      await send(services[0]!, 'turnPaired', turnId, pairedTurn({ responseId }));
      await send(services[0]!, 'turnUnhinted', turnId, unhintedTurn({ responseId, evalScore: 1 }));
      await send(services[0]!, 'turnUnhinted', turnId, unhintedTurn({ responseId, evalScore: -1 }));
    }
  };
  await feed(20);
  const pidFile = await readFile(path.join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL');
  await feed(20);
  await nats.kill();
  await nats.restart();
  await eventually(
    async () => services.every((service) => service.app.get(Bus) !== undefined) && (await status()).turns.captured > 0,
  );
  await feed(20);

  await eventually(async () => (await status()).cases.rl === turnIds.length);
  await eventually(
    async () =>
      new Set((await published(nats.url, 'sampleReady')).map((message) => message.turnId)).size === turnIds.length,
  );
  const books = await status();
  expect(books.turns).toEqual({
    captured: 60,
    paired: 60,
    untrainable: 0,
    expired: 0,
    superseded: 0,
    failed: 0,
    open: 0,
  });
  expect(books.cases).toEqual({ opdRl: 0, opd: 0, rl: 60, drop: 0, deciding: 0 });
  expect(books).toMatchObject({ waitingSamples: 60, samplesTrained: 0, reasons: {} });
});
