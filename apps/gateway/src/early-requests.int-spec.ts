import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort, startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

async function ask(to: RunningGateway, messages: object[]): Promise<string> {
  const response = await to.chat({ messages });
  await response.text();
  return response.headers.get('x-hindcast-turn-id')!;
}

const isConnected = async ({ url }: RunningGateway): Promise<boolean> =>
  (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]');

it('a request waits for the answer that it continues, while the gateway that gave it is the only one without NATS', async () => {
  const nats = await startNatsServer();
  const engine = await FakeEngine.start();
  const bus = await BusReader.connect(nats.url);
  const port = await freePort();
  const start = (natsUrl: string): Promise<RunningGateway> =>
    startTestGateway({ NATS_URL: natsUrl, POLICY_BASE_URL: engine.url });
  const [there, away] = await Promise.all([start(nats.url), start(`nats://127.0.0.1:${port}`)]);
  await eventually(() => isConnected(there));
  const turnId = await ask(away, userSays('hop'));
  await ask(there, userSays('hop', 'Hello', 'on'));
  // The way to NATS opens for the other one as well.
  const sockets: Socket[] = [];
  const way = createServer((client) => {
    const onward = connect(nats.port, '127.0.0.1');
    sockets.push(client, onward);
    for (const socket of [client, onward]) socket.on('error', () => undefined);
    client.pipe(onward).pipe(client);
  }).listen(port, '127.0.0.1');
  expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe('on');

  await Promise.all([there.stop(), away.stop()]);
  for (const socket of sockets) socket.destroy();
  way.close();
  await once(way, 'close');
  await bus.close();
  await engine.stop();
  await nats.stop();
});
