import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

interface Ask {
  readonly texts: readonly string[];
  readonly more?: object;
}

async function ask(to: RunningGateway, { texts, more }: Ask): Promise<string> {
  const response = await to.chat({ messages: userSays(...texts), ...more });
  await response.text();
  return response.headers.get('x-hindcast-turn-id')!;
}

const isConnected = async ({ url }: RunningGateway): Promise<boolean> =>
  (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]');

describe('a request that continues an answer of the only gateway without NATS', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let there: RunningGateway;
  let away: RunningGateway;
  let port: number;
  let folder: string;
  let way: Server | null;
  const sockets: Socket[] = [];

  const start = (natsUrl: string, dataDir?: string): Promise<RunningGateway> =>
    startTestGateway(
      { NATS_URL: natsUrl, POLICY_BASE_URL: engine.url, SESSION_SECRET: 'one for both gateways' },
      dataDir,
    );
  /** The way to NATS opens for the other one as well. */
  const openWay = (): void => {
    way = createServer((client) => {
      const onward = connect(nats.port, '127.0.0.1');
      sockets.push(client, onward);
      for (const socket of [client, onward]) socket.on('error', () => undefined);
      client.pipe(onward).pipe(client);
    }).listen(port, '127.0.0.1');
  };
  const nextStates = async (turnId: string): Promise<string[]> =>
    (await bus.messageOf('turnPaired', turnId)).body.nextState.map(({ text }) => text);

  beforeEach(async () => {
    [nats, engine, port] = [await startNatsServer(), await FakeEngine.start(), await freePort()];
    bus = await BusReader.connect(nats.url);
    folder = mkdtempSync(join(tmpdir(), 'hindcast-early-'));
    [way, there, away] = [null, await start(nats.url, folder), await start(`nats://127.0.0.1:${port}`)];
    await eventually(() => isConnected(there));
  });
  afterEach(async () => {
    await Promise.all([there.stop(), away.stop()]);
    for (const socket of sockets.splice(0)) socket.destroy();
    if (way) await once(way.close(), 'close');
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('waits for it', async () => {
    const turnId = await ask(away, { texts: ['hop'] });
    await ask(there, { texts: ['hop', 'Hello', 'on'] });
    openWay();
    expect(await nextStates(turnId)).toEqual(['on']);
  });

  it('waits for it where its own gateway gave the same answer to the same message before', async () => {
    const more = { session_id: 'repeats' };
    await ask(there, { texts: ['hop'], more });
    const turnId = await ask(away, { texts: ['hop', 'Hello', 'hop'], more });
    await ask(there, { texts: ['hop', 'Hello', 'hop', 'Hello', 'on'], more });
    openWay();
    expect(await nextStates(turnId)).toEqual(['on']);
  });

  it('waits for it longer than its own gateway runs', async () => {
    const turnId = await ask(away, { texts: ['hop'] });
    await ask(there, { texts: ['hop', 'Hello', 'on'] });
    await there.stop();
    there = await start(nats.url, folder);
    await eventually(() => isConnected(there));
    openWay();
    expect(await nextStates(turnId)).toEqual(['on']);
  });

  it('is not overtaken by the end of its session', async () => {
    const more = { session_id: 'ends' };
    const turnId = await ask(away, { texts: ['hop'], more });
    await ask(there, { texts: ['hop', 'Hello', 'on'], more: { ...more, turn_type: 'side' } });
    openWay();
    await bus.messageOf('turnCaptured', turnId);
    const ended = await fetch(`${there.url}/v1/sessions/ends/end`, { method: 'POST' });
    expect(ended.ok).toBe(true);
    expect(await nextStates(turnId)).toEqual(['on']);
    expect(await bus.messages('turnClosed')).toEqual([]);
  });
});
