import { setTimeout as sleep } from 'node:timers/promises';
import { contracts } from '@hindcast/contracts';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Bus } from './bus';
import { Log } from './log';
import { Nats } from './nats';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { sampleMessage } from './testing/samples';
import { deadLetters, lag } from './testing/stream';
import { until } from './testing/until';
import { startWorker, type Worker } from './testing/worker-process';

const { subject } = contracts.sampleReady;
/** For workers that live: however busy the machine, what one of them has does not go to the other. */
const PATIENT = { TEST_ACK_WAIT_MS: '60000' };

let server: NatsServer;
let connection: NatsConnection;
let nats: Nats;
let bus: Bus;
const workers: Worker[] = [];

const worker = async (env: Record<string, string> = {}): Promise<Worker> => {
  const started = startWorker(server.url, env);
  workers.push(started);
  await started.said('ready');
  return started;
};

beforeEach(async () => {
  server = await startNatsServer();
  connection = await connect({ servers: server.url });
  const log = new Log('spec', 'silent');
  nats = new Nats({ app: 'spec', servers: server.url, replicas: 1 }, log);
  nats.start();
  await nats.whenConnected();
  bus = new Bus('spec', nats, log);
});
afterEach(async () => {
  for (const { child } of workers.splice(0)) child.kill('SIGKILL');
  await nats.close();
  await connection.close();
  await server.stop();
});

it('dead-letters, before its handler, a message that killed its worker at every delivery', async () => {
  const message = sampleMessage('die');
  await bus.publish('sampleReady', message);
  const isBuried = async (): Promise<boolean> => (await deadLetters(connection)).length === 1;
  const victims: Worker[] = [];
  while (!(await isBuried())) {
    const last = victims.at(-1)?.child;
    if (!last || last.signalCode !== null) {
      victims.push(startWorker(server.url));
      workers.push(victims.at(-1)!);
    }
    await sleep(50);
  }
  await until(async () => (await lag(connection, 'trainer', subject)) === 0);
  // Each worker handled it at most once. A delivery on its way to a worker that has just died counts, though no handler saw it.
  const handled = victims.map(({ lines }) => lines.filter((line) => line.event === 'handling'));
  expect(handled.every((lines) => lines.length <= 1)).toBe(true);
  const deliveries = handled.flat().map((line) => line.deliveries!);
  expect(deliveries[0]).toBe(1);
  expect(deliveries).toEqual([...new Set(deliveries)].sort());
  expect(Math.max(...deliveries)).toBeLessThanOrEqual(3);
  expect(handled.at(-1)).toEqual([]);
  const [letter] = await deadLetters(connection);
  expect(letter).toMatchObject({ code: 'max-deliveries', turnId: message.turnId });
  // The server counts one more where it sent the message to the connection of a worker that was dead already.
  expect(letter!.deliveries).toBeGreaterThanOrEqual(4);
});

it('handles again what was handled but not acknowledged when the worker died', async () => {
  const message = sampleMessage();
  const first = await worker({ CRASH_AT: 'before-ack' });
  await bus.publish('sampleReady', message);
  expect(await first.ended()).toBe('SIGKILL');
  await first.said('handled', message.turnId);
  const second = await worker();
  await second.said('handled', message.turnId);
  await until(async () => (await lag(connection, 'trainer', subject)) === 0);
});

it('shares the messages between two workers, each to one of them', async () => {
  const both = await Promise.all([worker(PATIENT), worker(PATIENT)]);
  const messages = Array.from({ length: 24 }, () => sampleMessage('slow'));
  for (const message of messages) await bus.publish('sampleReady', message);
  const handled = (): string[] =>
    both.flatMap(({ lines }) => lines.filter((line) => line.event === 'handled').map((line) => line.turnId!));
  await until(() => handled().length >= messages.length);
  expect(handled().sort()).toEqual(messages.map(({ turnId }) => turnId).sort());
  for (const { lines } of both) expect(lines.some((line) => line.event === 'handled')).toBe(true);
});

it('drains on SIGTERM: finishes what runs, gives back what only waits, takes nothing new, exits 0', async () => {
  const [slow, wait, hang] = [sampleMessage('slow'), sampleMessage('wait'), sampleMessage('hang')];
  const draining = await worker(PATIENT);
  for (const message of [slow, wait, hang]) await bus.publish('sampleReady', message);
  for (const { turnId } of [slow, wait, hang]) await draining.said('handling', turnId);
  draining.child.kill('SIGTERM');
  // Published once the drain has begun: this worker must not touch it.
  await draining.said('handled', wait.turnId);
  const late = sampleMessage();
  await bus.publish('sampleReady', late);
  expect(await draining.ended()).toBe(0);
  expect(draining.lines.some((line) => line.event === 'handled' && line.turnId === slow.turnId)).toBe(true);
  expect(draining.lines.some((line) => line.turnId === late.turnId)).toBe(false);

  const next = await worker(PATIENT);
  await next.said('handled', late.turnId);
  await next.said('handling', hang.turnId);
  expect(next.lines.some((line) => line.turnId === slow.turnId)).toBe(false);
  // The second signal does not wait.
  next.child.kill('SIGTERM');
  next.child.kill('SIGINT');
  expect([0, 1, 'SIGINT']).toContain(await next.ended());
});
