import { Agent, request } from 'undici';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, sendJson } from './testing/fake-engine';
import { startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';
import { malformedRequest, type RawRequest } from './testing/malformed-request';
import { Random, inParallel } from './testing/random';

const REQUESTS = 10_000;
const SEED = 20261130;

/** Whether a reply to a refused request has the shape that the path's clients read. */
function isErrorShaped(path: string, text: string): boolean {
  const { error, type } = JSON.parse(text) as { error?: Record<string, unknown>; type?: unknown };
  if (typeof error?.['message'] !== 'string' || typeof error['type'] !== 'string') return false;
  return !/^\/v1\/messages(\/|\?|$)/.test(path) || type === 'error';
}

jest.setTimeout(600_000);

describe('malformed requests', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let agent: Agent;
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    engine.script = (call) => {
      engine.calls.length = 0;
      if (call.path === '/tokenize')
        return sendJson(call.response, 200, { count: 3, max_model_len: 99, tokens: [1, 2, 3] });
      if (!call.path.startsWith('/v1/chat/')) return sendJson(call.response, 200, { object: 'list', data: [] });
      engine.answer(call, answerOf('Hello'));
    };
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, MAX_BODY_BYTES: '60000' });
    agent = new Agent({ connections: 32 });
    process.on('unhandledRejection', note);
  });
  afterAll(async () => {
    process.off('unhandledRejection', note);
    await agent.destroy();
    await gateway.stop();
    await engine.stop();
    await nats.stop();
  });

  const send = async ({ method, path, headers, body }: RawRequest): Promise<{ status: number; text: string }> => {
    const response = await request(`${gateway.url}${path}`, {
      dispatcher: agent,
      method,
      headers,
      body: method === 'GET' ? null : body,
    });
    return { status: response.statusCode, text: await response.body.text() };
  };

  it(`${REQUESTS} of them: each gets a reply of the right shape, and none harms the gateway`, async () => {
    const random = new Random(SEED);
    const faults: string[] = [];
    const statuses = new Map<number, number>();
    await inParallel(REQUESTS, 32, async () => {
      const malformed = malformedRequest(random);
      const { status, text } = await send(malformed);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const shown = `${malformed.method} ${malformed.path.slice(0, 80)} → ${status}: ${text.slice(0, 200)}\n${malformed.body.toString('latin1').slice(0, 300)}`;
      // No ledger runs here.
      const isOwnFault = status >= 500 && status !== 501 && !text.includes('"ledger-unavailable"');
      if (isOwnFault) faults.push(`the gateway blames itself: ${shown}`);
      else if (status >= 400 && !isErrorShaped(malformed.path, text)) faults.push(`no error shape: ${shown}`);
    });
    expect(faults).toEqual([]);
    expect(rejections).toEqual([]);
    expect(statuses.get(400)).toBeGreaterThan(REQUESTS / 4);
    expect(statuses.get(413)).toBeGreaterThan(0);
    expect(statuses.get(404)).toBeGreaterThan(0);
    const response = await gateway.chat({ messages: userSays('still there?') });
    expect(response.status).toBe(200);
  });
});
