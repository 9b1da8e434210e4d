import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, type EngineCall } from './testing/fake-engine';
import { eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const MB = 1024 * 1024;

describe('clients that leave, and clients that do not read', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    // No health checks beside the calls: every socket at the engine is one of theirs.
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_HEALTH_MS: '3600000' });
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
    await nats.stop();
  });
  beforeEach(() => {
    engine.calls.length = 0;
  });

  const bodies: Record<string, object> = {
    'chat/completions': { messages: userSays('x') },
    completions: { prompt: 'x' },
    embeddings: { input: 'x', model: 'seed' },
  };
  const post = (path: string, body: object, signal: AbortSignal): Promise<Response> =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...bodies[path], ...body }),
      signal,
    });
  const begin = (call: EngineCall): void => {
    engine.openStream(call);
    call.response.write(engine.events(call, answerOf('one two'))[0]);
  };

  it.each([
    { row: 'D36', path: 'chat/completions', stream: true, begun: true },
    { row: 'D38', path: 'chat/completions', stream: true, begun: false },
    { row: 'D39', path: 'chat/completions', stream: false, begun: false },
    { row: 'D36', path: 'completions', stream: true, begun: true },
    { row: 'D38', path: 'completions', stream: true, begun: false },
    { row: 'D39', path: 'completions', stream: false, begun: false },
    { row: 'D39', path: 'embeddings', stream: false, begun: false },
  ])('$row /v1/$path, stream $stream, begun $begun: the engine sees it', async ({ path, stream, begun }) => {
    engine.script = begun ? begin : () => undefined;
    const leaving = new AbortController();
    const answer = post(path, { stream }, leaving.signal);
    if (begun) await (await answer).body!.getReader().read();
    else answer.catch(() => undefined);
    const call = await eventually(async () => engine.calls[0]);
    leaving.abort();
    await call.aborted;
  });

  it('D39 a body that has begun to come in', async () => {
    engine.script = (call) => void call.response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
    const leaving = new AbortController();
    post('chat/completions', {}, leaving.signal).catch(() => undefined);
    const call = await eventually(async () => engine.calls[0]);
    leaving.abort();
    await call.aborted;
  });

  it('D37 of a hundred aborted streams no socket at the engine is left', async () => {
    engine.script = (call) => (engine.calls.indexOf(call) % 2 === 0 ? begin(call) : undefined);
    const leaving = Array.from({ length: 100 }, () => new AbortController());
    const answers = leaving.map(({ signal }) => post('chat/completions', { stream: true }, signal));
    for (const answer of answers) answer.then((response) => response.text()).catch(() => undefined);
    await eventually(async () => engine.calls.length === 100);
    for (const controller of leaving) controller.abort();
    await Promise.all(engine.calls.map((call) => call.aborted));
    await eventually(async () => engine.openSockets === 0);
    expect(await gateway.metric('engine_in_flight')).toBe(0);
  });

  describe('a client that does not read', () => {
    const total = 64 * MB;
    const piece = 'x'.repeat(64 * 1024);
    let sent = 0;

    /** Sends as much as the gateway takes. */
    const flood = async (call: EngineCall): Promise<void> => {
      engine.openStream(call);
      const [first, second] = engine.events(call, answerOf('one two'));
      call.response.write(first);
      const event = second!.replace('one', piece);
      let goOn = (): void => undefined;
      call.response.on('drain', () => goOn()).on('close', () => goOn());
      while (sent < total && !call.response.destroyed) {
        sent += event.length;
        if (!call.response.write(event)) await new Promise<void>((resolve) => (goOn = resolve));
      }
      call.response.end('data: [DONE]\n\n');
    };
    /** A client that sends its request and then reads nothing. */
    const ask = async (path: string, to = gateway): Promise<Socket> => {
      sent = 0;
      const client = connect(Number(new URL(to.url).port), '127.0.0.1').pause();
      await once(client, 'connect');
      const body = JSON.stringify({ ...bodies[path], stream: true });
      const head = `POST /v1/${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n`;
      client.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
      return client;
    };
    /** The engine got no further from look to look. */
    const stalled = async (): Promise<void> => {
      let before = 0;
      let looks = 0;
      await eventually(async () => {
        looks = sent > 0 && sent === before ? looks + 1 : 0;
        before = sent;
        return looks >= 10 && (await gateway.metric('engine_in_flight')) === 1;
      });
    };

    it.each(['chat/completions', 'completions'])('/v1/%s: the gateway stops reading the engine', async (path) => {
      engine.script = flood;
      const client = await ask(path);
      await stalled();
      // What lies between are the buffers of two sockets, not the answer.
      expect(sent).toBeLessThan(total / 2);
      let received = 0;
      client.on('data', (bytes: Buffer) => (received += bytes.length)).resume();
      // All of it but the fields that are cut out of each event.
      await eventually(async () => received > 0.9 * total && (await gateway.metric('engine_in_flight')) === 0);
      client.destroy();
    });

    it.each(['chat/completions', 'completions'])('/v1/%s: it does not hold the engine for ever', async (path) => {
      const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url, CLIENT_TIMEOUT_MS: '300' };
      const impatient = await startTestGateway(env);
      engine.script = flood;
      const client = await ask(path, impatient);
      client.on('error', () => undefined);
      await (
        await eventually(async () => engine.calls[0])
      ).aborted;
      client.destroy();
      await impatient.stop();
    });

    it.each(['chat/completions', 'completions'])('/v1/%s: it is noticed when it leaves all the same', async (path) => {
      engine.script = flood;
      const client = await ask(path);
      await stalled();
      client.destroy();
      await engine.calls[0]!.aborted;
      expect(sent).toBeLessThan(total / 2);
      await eventually(async () => (await gateway.metric('engine_in_flight')) === 0);
    });
  });
});
