import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, userSays } from './testing/gateway-harness';
import { startGatewayProcess, type GatewayProcess } from './testing/gateway-process';

const chat = (url: string, messages: object[], extra: object = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages, ...extra }),
  });
const turnOf = (response: Response): string => response.headers.get('x-hindcast-turn-id')!;

// What a rolling update does to one gateway.
describe('a gateway that is asked to end', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let folder: string;
  let gateway: GatewayProcess;
  /** Each lets one stream go on to its end, in the order in which they were begun. */
  let goOn: (() => void)[];

  beforeEach(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    folder = mkdtempSync(join(tmpdir(), 'hindcast-drain-'));
    goOn = [];
    engine.script = (call) => {
      if (call.body['stream'] !== true) return engine.answer(call, answerOf('Hello'));
      engine.openStream(call);
      const events = engine.events(call, answerOf('to the very end'));
      call.response.write(events[0]);
      goOn.push(() => void call.response.end(events.slice(1).join('')));
    };
  });
  afterEach(async () => {
    gateway.kill('SIGKILL');
    await gateway.ended;
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    gateway = await startGatewayProcess({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      DATA_DIR: folder,
      ...env,
    });
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  };
  const isNotReady = async (): Promise<boolean> => (await fetch(`${gateway.url}/readyz`)).status === 503;
  const listensNoMore = async (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      socket.on('connect', () => resolve(false)).on('error', () => resolve(true));
      socket.on('connect', () => socket.destroy());
    });

  it('serves on for its delay, tells its clients to go elsewhere, and then ends what it had begun', async () => {
    await start({ SHUTDOWN_DELAY_SECONDS: '5' });
    const streamed = await chat(gateway.url, userSays('long'), { stream: true });
    expect(streamed.headers.get('connection')).toBe('keep-alive');
    gateway.kill('SIGTERM');
    await eventually(isNotReady);
    const late = await chat(gateway.url, userSays('late'));
    const lateStream = await chat(gateway.url, userSays('late stream'), { stream: true });
    const answers = [late, lateStream];
    expect(answers.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([
      [200, 'close'],
      [200, 'close'],
    ]);
    goOn[1]!();
    expect(await lateStream.text()).toContain('[DONE]');
    await eventually(listensNoMore);
    goOn[0]!();
    expect(await streamed.text()).toContain('[DONE]');
    expect(await gateway.ended).toBe(0);
    for (const response of [streamed, ...answers]) await bus.messageOf('turnCaptured', turnOf(response));
  });

  it('answers what comes on a connection that is still open', async () => {
    await start();
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    let answered = '';
    socket.on('data', (bytes: Buffer) => (answered += bytes.toString()));
    const send = (content: string, stream: boolean): void => {
      const body = JSON.stringify({ messages: userSays(content), stream });
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    };
    send('first', true);
    await eventually(() => Promise.resolve(answered.includes('data:')));
    gateway.kill('SIGTERM');
    await eventually(listensNoMore);
    send('second', false);
    await eventually(() => Promise.resolve(engine.calls.length === 2));
    goOn[0]!();
    await once(socket, 'close');
    const [, first, second] = answered.split('HTTP/1.1 200 OK');
    expect(first).toContain('[DONE]');
    expect(second).toMatch(/connection: close[^]*"content":\s?"Hello"/i);
    expect(await gateway.ended).toBe(0);
  });

  it('cuts what is not over after SHUTDOWN_SECONDS, and writes that down', async () => {
    await start({ SHUTDOWN_SECONDS: '1' });
    const streamed = await chat(gateway.url, userSays('endless'), { stream: true });
    gateway.kill('SIGTERM');
    await expect(streamed.text()).rejects.toThrow();
    expect(await gateway.ended).toBe(0);
    expect((await bus.messageOf('turnClosed', turnOf(streamed))).body.reason).toBe('failed');
  });

  it('counts the requests that are under way', async () => {
    await start();
    const underWay = async (): Promise<string> =>
      /^hindcast_requests_in_flight\{[^}]*\} (\d+)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())![1]!;
    expect(await underWay()).toBe('0');
    const streamed = [
      await chat(gateway.url, userSays('one'), { stream: true }),
      await chat(gateway.url, userSays('two'), { stream: true }),
    ];
    expect(await underWay()).toBe('2');
    goOn[0]!();
    await streamed[0]!.text();
    await eventually(async () => (await underWay()) === '1');
    await streamed[1]!.body!.cancel();
    await eventually(async () => (await underWay()) === '0');
  });
});
