import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { ask, connected, post } from './testing/chat-request';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays } from './testing/gateway-harness';
import { startGatewayProcess, type GatewayProcess } from './testing/gateway-process';

describe('crashes and sweeps', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let folder: string;
  const processes: GatewayProcess[] = [];

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    folder = mkdtempSync(join(tmpdir(), 'hindcast-crash-'));
  });
  afterAll(async () => {
    for (const { kill } of processes) kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string> = {}): Promise<GatewayProcess> => {
    const gateway = await startGatewayProcess({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      DATA_DIR: folder,
      ...env,
    });
    processes.push(gateway);
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
    return gateway;
  };

  it('kill -9 after the capture was put, and after the claim: another gateway finishes both', async () => {
    const [putting, claiming] = await Promise.all([
      start({ CRASH_AT: 'after-capture-put' }),
      start({ CRASH_AT: 'after-claim' }),
    ]);
    const claimed = await ask(claiming, userSays('crash two'));
    await bus.messageOf('turnCaptured', claimed);
    // Where the machine is slow, an answer may be out before the crash.
    const crashed = (url: string, ...texts: string[]): Promise<unknown> =>
      post(url, { messages: userSays(...texts) })
        .then((response) => response.text())
        .catch(() => undefined);
    await Promise.all([crashed(putting.url, 'crash one'), crashed(claiming.url, 'crash two', 'Hello', 'and?')]);
    expect(await Promise.all([putting.ended, claiming.ended])).toEqual(['SIGKILL', 'SIGKILL']);
    expect(await bus.messages('turnPaired')).toEqual([]);

    const next = await start();
    // What was put is announced, what was claimed is published as it was written.
    await eventually(async () => {
      for (const { turnId } of await bus.messages('turnCaptured')) {
        if ((await bus.capture(turnId!))?.header.messages[0]!['content'] === 'crash one') return true;
      }
      return false;
    });
    expect((await bus.messageOf('turnPaired', claimed)).body.nextState[0]!.text).toBe('and?');
    next.kill('SIGTERM');
    expect(await next.ended).toBe(0);
  });

  it('SIGTERM lets an answer that is being streamed end, and writes it down', async () => {
    const gateway = await start();
    let goOn = (): void => undefined;
    engine.script = (call) => {
      engine.openStream(call);
      const events = engine.events(call, answerOf('to the very end'));
      call.response.write(events[0]);
      goOn = () => call.response.end(events.slice(1).join(''));
    };
    const response = await post(gateway.url, { messages: userSays('terminate'), stream: true });
    gateway.kill('SIGTERM');
    await eventually(async () => (await fetch(`${gateway.url}/healthz`).catch(() => null)) === null);
    goOn();
    expect(await response.text()).toContain('[DONE]');
    expect(await gateway.ended).toBe(0);
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    expect((await bus.messageOf('turnCaptured', turnId)).body.completionTokens).toBe(4);
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });

  it('a gateway that starts anew serves the current version from its first request on', async () => {
    await bus.setPolicy('current', { version: 3, adapter: 'hindcast-v000003', engines: [engine.url], at: 1 });
    engine.models = [{ id: 'seed' }, { id: 'hindcast-v000003', parent: 'seed' }];
    const gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url });
    await ask(gateway, userSays('first'));
    expect(engine.calls.at(-1)!.body['model']).toBe('hindcast-v000003');
    await gateway.stop();
    await bus.setPolicy('current', { version: 0, adapter: null, engines: [engine.url], at: 1 });
  });

  it('what nobody continues expires, and leaves no record', async () => {
    const gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      OPEN_TURN_TTL_SECONDS: '1',
    });
    await eventually(() => connected(gateway));
    const turnId = await ask(gateway, userSays('forgotten'), { session_id: 'x' });
    expect((await bus.messageOf('turnClosed', turnId)).body).toEqual({ reason: 'expired', detail: null });
    await eventually(async () => (await bus.openKeys()).length === 0);
    await gateway.stop();
  });

  it('a stored answer is there when its end reaches the client', async () => {
    const gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url });
    await eventually(() => connected(gateway));
    engine.script = (call) => engine.answer(call, answerOf('one two three'));
    let spooled = 0;
    for (let index = 0; index < 20; index++) {
      const turnId = await ask(gateway, userSays(`held ${index}`), { stream: index % 2 === 0 });
      if ((await bus.capture(turnId)) !== null) continue;
      // Where NATS takes long, the answer's end waits no longer than until the capture is on disk.
      spooled++;
      await eventually(async () => (await gateway.metric('turns_stored_total', 'spool')) >= spooled);
    }
    await gateway.stop();
  });
});
