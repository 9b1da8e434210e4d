import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { surveys, type ServiceReport } from '@hindcast/contracts';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { startService, type RunningService } from './bootstrap';
import { Bus } from './bus';
import { commonConfig, parseConfig, secret } from './config';
import { Health } from './health';
import { Log } from './log';
import { Nats } from './nats';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { startTrainer } from './testing/trainer';
import { until } from './testing/until';
import { z } from 'zod';

@Module({})
class NoHandlers {}

const Config = commonConfig(0).extend({
  DATABASE_URL: secret.optional(),
  POLICY_API_KEY: secret.optional(),
  POLICY_MODEL: z.string().default('seed'),
});

let server: NatsServer;
let connection: NatsConnection;
let asker: Nats;
let bus: Bus;
const running: RunningService[] = [];

beforeEach(async () => {
  server = await startNatsServer();
  connection = await connect({ servers: server.url });
  const log = new Log('spec', 'silent');
  asker = new Nats({ app: 'spec', servers: server.url, replicas: 1 }, log);
  asker.start();
  await asker.whenConnected();
  bus = new Bus('spec', asker, log);
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
  await asker.close();
  await connection.close();
  await server.stop();
});

async function started(service: Promise<RunningService>): Promise<RunningService> {
  running.push(await service);
  return service;
}

const teacher = (env: Record<string, string> = {}, delaySeconds = 0): Promise<RunningService> =>
  started(
    startService({
      // It handles nothing here.
      app: 'engine',
      config: parseConfig('engine', Config, {
        NATS_URL: server.url,
        LOG_LEVEL: 'silent',
        SHUTDOWN_DELAY_SECONDS: String(delaySeconds),
        ...env,
      }),
      module: NoHandlers,
      announce: () => undefined,
      shutdownMs: 1_000,
    }),
  );

const gather = (waitMs = 2_000): Promise<ServiceReport[]> => bus.gather('services', {}, waitMs);
/** Once so many processes are heard of: the server may learn of a subscription after its service is ready. */
async function reports(count: number, waitMs?: number): Promise<ServiceReport[]> {
  for (;;) {
    const answers = await gather(waitMs);
    if (answers.length === count) return answers;
  }
}
const apps = async (waitMs?: number): Promise<string[]> => (await gather(waitMs)).map(({ app }) => app);

it('every service answers for itself, what /readyz says with it', async () => {
  const before = Date.now();
  const trainer = await started(
    startTrainer(server.url, () => Promise.resolve(), {}, { env: { SHUTDOWN_SECONDS: '7' } }),
  );
  await teacher();
  trainer.app.get(Health).addCheck('weights', () => Promise.reject(new Error('not loaded')));
  trainer.app.get(Health).addOptionalCheck('engine', () => Promise.reject(new Error('away')));
  const [other, report] = await reports(2);
  expect(other).toMatchObject({ app: 'engine', ready: true });
  expect(other!.checks.every(({ ok, detail }) => ok && detail === null)).toBe(true);
  expect(report).toMatchObject({ app: 'trainer', node: process.version, ready: false });
  expect(report!.release).toMatch(/^\d+\.\d+\.\d+$/);
  expect(report!.instance).toContain(String(process.pid));
  expect(report!.startedAt).toBeGreaterThanOrEqual(before);
  expect(report!.checks).toEqual([
    { name: 'engine', ok: false, detail: 'away' },
    { name: 'nats', ok: true, detail: null },
    { name: 'start', ok: true, detail: null },
    { name: 'weights', ok: false, detail: 'not loaded' },
  ]);
  expect(report!.settings).toContainEqual({
    name: 'SHUTDOWN_SECONDS',
    value: '7',
    isSecret: false,
    isSet: true,
    isGiven: true,
  });
});

it('answers again after the broker was away, and on every new connection', async () => {
  await teacher();
  expect((await reports(1))[0]!.app).toBe('engine');
  await server.restart({ empty: true });
  await until(() => asker.connected);
  await until(async () => (await apps()).length === 1);
});

it('answers no more once it shuts down, while it still takes requests', async () => {
  const service = await teacher({}, 5);
  expect((await reports(1))[0]!.app).toBe('engine');
  running.length = 0;
  const closed = service.close();
  // Its answers would be there at once, and it does not take requests for ever.
  await until(async () => (await apps(500)).length === 0);
  expect((await fetch(`http://127.0.0.1:${service.port}/readyz`)).status).toBe(503);
  await closed;
});

it('is nobody where nobody listens, and a DependencyUnavailable where there is no broker', async () => {
  expect(await gather()).toEqual([]);
  await server.kill();
  await until(() => !asker.connected);
  await expect(bus.gather('services', {}, 100)).rejects.toMatchObject({ code: 'dependency-unavailable' });
});

it('passes over what is no report, what is too large, and what comes late', async () => {
  await teacher();
  const answers = (body: string, delayMs = 0): void =>
    void connection.subscribe(surveys.services.subject, {
      callback: (_error, message) => void sleep(delayMs, undefined, { ref: false }).then(() => message.respond(body)),
    });
  const [report] = await reports(1);
  answers('not JSON');
  answers(JSON.stringify({ ...report, startedAt: 'today' }));
  answers(JSON.stringify({ ...report, app: 'large', node: 'x'.repeat(300_000) }));
  answers(JSON.stringify({ ...report, app: 'late' }), 10_000);
  answers(JSON.stringify({ ...report, app: 'newer', more: 1 }));
  await connection.flush();
  await until(async () => (await apps()).join() === 'engine,newer');
});

it('no answer tells a secret, whatever the secret and wherever it turns up', async () => {
  const letters = fc.string({
    unit: fc.constantFrom(...'abcXYZ0189-_.~!$%&/?#@:+ "\\'),
    minLength: 12,
    maxLength: 40,
  });
  const said: string[] = [];
  connection.subscribe('>', { callback: (_error, message) => void said.push(message.string()) });
  await connection.flush();
  await fc.assert(
    fc.asyncProperty(letters, letters, letters, async (key, password, natsPassword) => {
      const encoded = encodeURIComponent(password);
      const service = await teacher({
        POLICY_API_KEY: key,
        DATABASE_URL: `postgresql://me:${encoded}@db/x`,
        POLICY_MODEL: `http://me:${encoded}@host/v1`,
        NATS_USER: 'me',
        NATS_PASSWORD: natsPassword,
      });
      const all = [key, password, encoded, natsPassword];
      service.app.get(Health).addCheck('database', () => {
        throw new Error(`no way to postgresql://me:${encoded}@db/x with ${all.join(' or ')}`);
      });
      // The service of the run before is waited for as well.
      const [report] = await reports(1, 200);
      running.length = 0;
      await service.close();
      const secrets = report!.settings.filter(({ isSecret }) => isSecret);
      expect(secrets.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['NATS_PASSWORD', 'DATABASE_URL', 'POLICY_API_KEY']),
      );
      expect(secrets.every(({ value }) => value === null)).toBe(true);
      expect(secrets.filter(({ isSet }) => isSet)).toHaveLength(3);
      const text = said.splice(0).join('\n');
      expect(text).toContain('no way to');
      for (const value of all)
        for (const form of [value, JSON.stringify(value).slice(1, -1)]) expect(text).not.toContain(form);
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
