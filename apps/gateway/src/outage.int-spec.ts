import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { ask, connected } from './testing/chat-request';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

describe('without NATS', () => {
  let engine: FakeEngine;
  let folder: string;
  const cleanUp: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    engine = await FakeEngine.start();
    folder = mkdtempSync(join(tmpdir(), 'hindcast-outage-'));
  });
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const gatewayOn = async (natsUrl: string, env: Record<string, string> = {}): Promise<RunningGateway> => {
    const gateway = await startTestGateway({ NATS_URL: natsUrl, POLICY_BASE_URL: engine.url, ...env }, folder);
    cleanUp.push(() => gateway.stop());
    return gateway;
  };
  const startNats = async (port: number): Promise<{ nats: NatsServer; bus: BusReader }> => {
    const nats = await startNatsServer({ port });
    cleanUp.push(() => nats.stop());
    return { nats, bus: await readerOf(nats) };
  };
  const readerOf = async (nats: NatsServer): Promise<BusReader> => {
    const bus = await BusReader.connect(nats.url);
    cleanUp.push(() => bus.close());
    return bus;
  };

  it('D77 serves and spools before NATS was ever there, and pairs in order once it is', async () => {
    const port = await freePort();
    const gateway = await gatewayOn(`nats://127.0.0.1:${port}`);
    const first = await ask(gateway, userSays('one'), { stream: true });
    const second = await ask(gateway, userSays('one', 'Hello', 'two'), { stream: true });
    const forced = await ask(gateway, userSays('warm'), { temperature: 0.5 });
    expect(readdirSync(join(folder, 'spool'))).toHaveLength(4);
    const { bus } = await startNats(port);
    expect((await bus.messageOf('turnPaired', first)).body.nextState[0]!.text).toBe('two');
    expect((await bus.messageOf('turnCaptured', second)).body.untrainable).toBeNull();
    expect((await bus.messageOf('turnCaptured', forced)).body.untrainable).toBe('off-policy:temperature');
    expect(await bus.capture(second)).not.toBeNull();
    await eventually(() => Promise.resolve(readdirSync(join(folder, 'spool')).length === 0));
  });

  it('a spool outlives its gateway', async () => {
    const port = await freePort();
    const gateway = await gatewayOn(`nats://127.0.0.1:${port}`);
    const turnId = await ask(gateway, userSays('kept'));
    cleanUp.pop();
    await gateway.stop();
    const { bus } = await startNats(port);
    await gatewayOn(`nats://127.0.0.1:${port}`);
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBeNull();
  });

  it('previous_response_id finds what waits in the spool, for its tenant only', async () => {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
    const API_KEYS = `ann:${hash('anns')},bob:${hash('bobs')}`;
    const gateway = await gatewayOn(`nats://127.0.0.1:${await freePort()}`, { API_KEYS });
    const respond = async (key: string, body: object): Promise<{ status: number; id: string }> => {
      const response = await fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'seed', ...body }),
      });
      return { status: response.status, id: ((await response.json()) as { id: string }).id };
    };
    const { id } = await respond('anns', { input: 'My name is Ann.' });
    engine.calls.length = 0;
    expect((await respond('anns', { input: 'And?', previous_response_id: id })).status).toBe(200);
    expect(engine.calls[0]!.body['messages']).toMatchObject([
      { role: 'user', content: 'My name is Ann.' },
      { role: 'assistant' },
      { role: 'user', content: 'And?' },
    ]);
    expect((await respond('bobs', { input: 'And?', previous_response_id: id })).status).toBe(400);
  });

  it('a full spool drops the oldest captures, and the ledger learns which', async () => {
    const port = await freePort();
    const gateway = await gatewayOn(`nats://127.0.0.1:${port}`, { SPOOL_MAX_BYTES: '12000' });
    const turns: string[] = [];
    for (let index = 0; index < 8; index++) turns.push(await ask(gateway, userSays(`${index} ${'long '.repeat(400)}`)));
    const files = readdirSync(join(folder, 'spool')).map((name) => statSync(join(folder, 'spool', name)).size);
    expect(files.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(12_000);
    const dropped = await gateway.metric('spool_dropped_total', 'open');
    expect(dropped).toBeGreaterThan(0);
    expect(dropped).toBeLessThan(turns.length);
    const { bus } = await startNats(port);
    for (const turnId of turns.slice(0, dropped)) {
      expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('dropped-from-spool');
      expect(await bus.capture(turnId)).toBeNull();
    }
    for (const turnId of turns.slice(dropped)) {
      await bus.messageOf('turnCaptured', turnId);
      expect(await bus.capture(turnId)).not.toBeNull();
    }
  });

  it('goes on while the broker is killed and comes back: every turn is there once', async () => {
    const port = await freePort();
    const { nats } = await startNats(port);
    const gateway = await gatewayOn(nats.url);
    await eventually(() => connected(gateway));
    const turns = [await ask(gateway, userSays('before'))];
    await nats.kill();
    for (let index = 0; index < 5; index++) turns.push(await ask(gateway, userSays(`during ${index}`)));
    turns.push(await ask(gateway, userSays('before', 'Hello', 'and then?')));
    await nats.restart();
    const bus = await readerOf(nats);
    for (const turnId of turns) expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBeNull();
    await bus.messageOf('turnPaired', turns[0]!);
    const captured = (await bus.messages('turnCaptured')).map(({ turnId }) => turnId);
    expect(captured.sort()).toEqual([...turns].sort());
  });

  it('a broker that hangs delays no answer for long and loses nothing', async () => {
    const { nats, bus } = await startNats(await freePort());
    const gateway = await gatewayOn(nats.url);
    await eventually(() => connected(gateway));
    process.kill(nats.pid, 'SIGSTOP');
    const turnId = await ask(gateway, userSays('hanging'), { stream: true });
    await eventually(async () => (await gateway.metric('turns_stored_total', 'spool')) === 1);
    process.kill(nats.pid, 'SIGCONT');
    await bus.messageOf('turnCaptured', turnId);
    await ask(gateway, userSays('hanging', 'Hello', 'back'));
    await bus.messageOf('turnPaired', turnId);
    expect((await bus.messages('turnPaired')).filter((message) => message.turnId === turnId)).toHaveLength(1);
  });

  it('what comes before the turn that it continues waits for the other gateway that has it on disk', async () => {
    const port = await freePort();
    const other = join(folder, 'other');
    mkdirSync(other);
    const startOther = (): Promise<RunningGateway> =>
      startTestGateway({ NATS_URL: `nats://127.0.0.1:${port}`, POLICY_BASE_URL: engine.url }, other);
    const gateway = await gatewayOn(`nats://127.0.0.1:${port}`);
    const asked = await startOther();
    const turnId = await ask(asked, userSays('at the other'));
    await asked.stop();
    const next = await ask(gateway, userSays('at the other', 'Hello', 'and here?'));
    const { bus } = await startNats(port);
    // All that waits here was tried once, the continuation among it.
    await bus.messageOf('turnCaptured', next);
    await eventually(async () => (await gateway.metric('spool_operations')) === 0);
    const again = await startOther();
    cleanUp.push(() => again.stop());
    expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe('and here?');
    await eventually(() => Promise.resolve(readdirSync(join(folder, 'spool')).length === 0));
  });

  it('an answer that can be written nowhere is still served, and counted', async () => {
    writeFileSync(join(folder, 'no-folder'), '');
    const gateway = await gatewayOn(`nats://127.0.0.1:${await freePort()}`, { SPOOL_DIR: join(folder, 'no-folder') });
    for (const stream of [true, false]) await ask(gateway, userSays('lost'), { stream });
    expect(await gateway.metric('uncaptured_total')).toBe(2);
    expect(await gateway.metric('answers_ended_total', 'complete')).toBe(2);
  });
});
