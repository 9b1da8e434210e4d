import { DONE, EVENTS } from './testing/completion-events';
import { sendJson, type FakeEngine } from './testing/fake-engine';
import type { RunningGateway } from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';
import { keyOf } from './testing/keys';

describe('tokens of a key with a limit', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;

  beforeAll(async () => {
    stage = await startGatewayStage({ API_KEYS: keyOf('ann', 'sk-ann'), KEY_TOKENS_PER_MINUTE: '100000' });
    ({ engine, gateway } = stage);
  });
  afterAll(() => stage.stop());

  const remaining = async (body: object): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-ann', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.text();
    return Number(response.headers.get('x-ratelimit-remaining-tokens'));
  };

  it.each([
    { stream: false, ask: {} },
    { stream: true, ask: {} },
    { stream: true, ask: { stream_options: { include_usage: true } } },
  ])('are taken, and only what the client asked for is sent: $stream $ask', async ({ stream, ask }) => {
    const tokens = 10_000;
    const usage = { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens };
    engine.script = (call) => {
      if (!stream) return sendJson(call.response, 200, { choices: [], usage });
      expect(call.body['stream_options']).toEqual({ include_usage: true });
      engine.openStream(call);
      call.response.end(`${EVENTS.join('')}data: ${JSON.stringify({ choices: [], usage })}\n\n${DONE}`);
    };
    const before = await remaining({ prompt: 'x', stream, ...ask });
    const after = await remaining({ prompt: 'x', stream, ...ask });
    expect(before - after).toBeGreaterThan(tokens / 2);
    const response = await fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-ann', 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x', stream, ...ask }),
    });
    const text = await response.text();
    expect(text.includes('"usage"')).toBe(!stream || 'stream_options' in ask);
    if (stream) expect(text.startsWith(EVENTS[0]!)).toBe(true);
  });
});
