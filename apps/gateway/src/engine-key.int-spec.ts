import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { engineRoutes } from './testing/engine-routes';
import { answerOf, FakeEngine, sendJson, type EngineCall } from './testing/fake-engine';
import { startTestGateway, type RunningGateway } from './testing/gateway-harness';

describe.each([
  { name: 'a plain key', key: 'sk-plain-engine-key' },
  { name: 'a key that JSON escapes', key: 'sk-"odd"\\engine-key' },
])('the engine’s key, $name, in an error of the engine', ({ key }) => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_API_KEY: key });
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
    await nats.stop();
  });

  const error = { message: `no such key: ${key}`, type: key, code: 400, param: key };
  const event = `data: ${JSON.stringify({ error })}\n\n`;
  const streaming =
    (...before: string[]) =>
    (call: EngineCall) => {
      engine.openStream(call);
      for (const text of before) call.response.write(text);
      call.response.end(event);
    };
  const firstToken = (call: EngineCall): string =>
    call.path === '/v1/completions'
      ? 'data: {"id":"c","choices":[{"index":0,"text":"Hel","finish_reason":null}]}\n\n'
      : engine.events(call, answerOf('Hello there')).slice(0, 2).join('');
  const scripts: [string, (call: EngineCall) => void][] = [
    ['its body', (call) => sendJson(call.response, 400, { error })],
    ['a body that is no JSON', (call) => call.response.writeHead(400).end(error.message)],
    ['the body of a 200', (call) => sendJson(call.response, 200, { error })],
    ['Retry-After', (call) => sendJson(call.response, 400, { error: { message: 'x' } }, { 'retry-after': key })],
    ['the first event of a stream', streaming()],
    ['an event after a comment', streaming(': ping\n\n')],
    ['an event after a token', (call) => streaming(firstToken(call))(call)],
  ];

  it.each(engineRoutes.flatMap((route) => scripts.map(([where, script]) => ({ ...route, where, script }))))(
    '$where, $name: the client does not see it',
    async ({ path, body, script }) => {
      engine.script = script;
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const seen = JSON.stringify([...response.headers]) + (await response.text());
      expect(seen).not.toContain('engine-key');
    },
  );
});
