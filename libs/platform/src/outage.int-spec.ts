import { setTimeout as sleep } from 'node:timers/promises';
import { contracts, DependencyUnavailable, queries } from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Buckets } from './buckets';
import { Bus } from './bus';
import { Nats } from './nats';
import { freePort, startNatsServer, type NatsServer } from './testing/nats-server';
import { sampleMessage } from './testing/samples';
import { startTrainer } from './testing/trainer';
import { until } from './testing/until';

const readyz = async (port: number): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

it('starts before NATS, says so, and is ready once NATS answers', async () => {
  const port = await freePort();
  const lines: Record<string, unknown>[] = [];
  const httpPort = await freePort();
  const starting = startTrainer(
    `nats://user:hush@127.0.0.1:${port}`,
    async () => undefined,
    {},
    {
      announce: (line) => lines.push(line),
      env: { PORT: String(httpPort) },
    },
  );
  await until(() => lines.length === 1);
  expect(lines[0]).toMatchObject({ event: 'waiting', for: 'nats', app: 'trainer' });
  expect(JSON.stringify(lines[0])).not.toContain('hush');
  expect((await fetch(`http://127.0.0.1:${httpPort}/healthz`)).status).toBe(200);
  const waiting = await readyz(httpPort);
  expect(waiting.status).toBe(503);
  expect(waiting.body).toMatchObject({ durability: null });
  expect((waiting.body['waiting'] as string[]).map((reason) => reason.split(':')[0])).toEqual(['nats', 'start']);
  const refused = await fetch(`http://127.0.0.1:${httpPort}/v1/models`);
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'dependency-unavailable' } }]);

  const server = await startNatsServer({ port });
  const service = await starting;
  expect(lines[1]).toEqual({ event: 'ready', app: 'trainer', pid: process.pid, port: httpPort });
  expect(await readyz(httpPort)).toMatchObject({
    status: 200,
    body: { ready: true, waiting: [], durability: 'process-death' },
  });
  await service.close();
  await server.stop();
});

it('serves without NATS when told not to wait for it', async () => {
  const port = await freePort();
  const service = await startTrainer(`nats://127.0.0.1:${port}`, async () => undefined, {}, { waitForBus: false });
  expect(await readyz(service.port)).toMatchObject({ status: 200, body: { ready: true, durability: null } });
  expect((await readyz(service.port)).body['degraded']).toHaveLength(1);
  await expect(service.app.get(Bus).publish('sampleReady', sampleMessage())).rejects.toThrow(DependencyUnavailable);
  const server = await startNatsServer({ port });
  await until(() => service.app.get(Nats).connected);
  await service.app.get(Bus).publish('sampleReady', sampleMessage());
  await service.close();
  await server.stop();
});

describe('when the server dies by kill -9', () => {
  let server: NatsServer;
  beforeEach(async () => (server = await startNatsServer()));
  afterEach(() => server.stop());

  it('goes on where it was, and settles what was in flight once', async () => {
    const calls: { turnId: string; deliveries: number }[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const service = await startTrainer(server.url, async ({ turnId }, { deliveries }) => {
      calls.push({ turnId: turnId!, deliveries });
      await released;
    });
    const bus = service.app.get(Bus);
    const first = sampleMessage();
    await bus.publish('sampleReady', first);
    await until(() => calls.length === 1);

    await server.kill();
    await until(() => !service.app.get(Nats).connected);
    expect((await readyz(service.port)).status).toBe(503);
    await expect(bus.publish('sampleReady', sampleMessage())).rejects.toThrow(DependencyUnavailable);
    await sleep(1_200);
    await server.restart();
    await until(async () => (await readyz(service.port)).status === 200);
    const second = sampleMessage();
    await bus.publish('sampleReady', second);
    await until(() => calls.length === 2);
    const manager = await jetstreamManager(service.app.get(Nats).connection());
    const info = () => manager.consumers.info('RL', 'trainer--rl-v1-sample-ready');
    // The first handler still runs, longer than the server waits for a word: its message may come again, and finds it at work.
    await sleep(1_500);
    release();
    await until(async () => (await info()).num_ack_pending === 0);
    expect(calls.map((call) => call.turnId)).toEqual([first.turnId, second.turnId]);
    await service.close();
  });

  it('sets streams, consumers, buckets and queries up again in an empty store', async () => {
    const calls: string[] = [];
    const service = await startTrainer(server.url, async ({ turnId }) => void calls.push(turnId!));
    const [bus, buckets] = [service.app.get(Bus), service.app.get(Buckets)];
    const policy = await buckets.open('policy');
    await policy.put('current', 'before');
    bus.respond('turn', async () => ({ found: false }));
    await bus.publish('sampleReady', sampleMessage());
    await until(() => calls.length === 1);

    await server.restart({ empty: true });
    await until(async () => (await readyz(service.port)).status === 200);
    const message = sampleMessage();
    await bus.publish('sampleReady', message);
    await until(() => calls.length === 2);
    expect(calls[1]).toBe(message.turnId);
    expect(await policy.get('current')).toBeNull();
    await policy.put('current', 'after');
    expect((await policy.get('current'))!.string()).toBe('after');
    expect(await bus.request('turn', { tenant: 'default', id: 'x' })).toEqual({ found: false });
    await service.close();
  });

  it('never acknowledges a message of the new stream for one of the old', async () => {
    let release: () => void = () => undefined;
    const old = sampleMessage();
    const calls: string[] = [];
    const service = await startTrainer(
      server.url,
      async ({ turnId }) => {
        calls.push(turnId!);
        if (turnId === old.turnId) await new Promise<void>((resolve) => (release = resolve));
        else throw new Error('fails for good');
      },
      {},
      { env: { MAX_DELIVERIES: '1000' } },
    );
    const bus = service.app.get(Bus);
    await bus.publish('sampleReady', old);
    await until(() => calls.length === 1);
    await server.restart({ empty: true });
    await until(async () => (await readyz(service.port)).status === 200);
    await bus.publish('sampleReady', sampleMessage());
    await until(() => calls.length > 1);
    release();
    const before = calls.length;
    await until(() => calls.length > before + 2);
    await service.close();
  });
});

it('keeps queries out of every stream', async () => {
  const server = await startNatsServer();
  const service = await startTrainer(server.url, async () => undefined);
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection);
  await manager.streams.purge('RL');
  for (const { subject } of Object.values(queries)) {
    connection.publish(subject, '{}');
    await connection.flush();
    await expect(manager.streams.find(subject)).rejects.toThrow();
  }
  expect((await manager.streams.info('RL')).config.subjects).not.toContain(contracts.dead.subject);
  expect((await manager.streams.info('RL')).state.messages).toBe(0);
  await connection.close();
  await service.close();
  await server.stop();
});
