import OpenAI from 'openai';
import { answerOf, type EngineCall, type FakeEngine } from './testing/fake-engine';
import type { BusReader } from './testing/gateway-harness';
import { startResponseStage, type ResponseStage } from './testing/response-stage';

type Json = Record<string, unknown>;

describe.each(['vllm', 'sglang'] as const)('responses that fail: %s', (dialect) => {
  let stage: ResponseStage;
  let engine: FakeEngine;
  let bus: BusReader;
  let client: OpenAI;
  let ask: ResponseStage['ask'];
  let post: ResponseStage['post'];

  beforeAll(async () => {
    stage = await startResponseStage(dialect);
    ({ engine, bus, client, ask, post } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
  });

  it('refusals have OpenAI’s shape and do not reach the engine', async () => {
    for (const body of [{ input: 'x', tools: [{ type: 'web_search' }] }, { input: 'x', background: true }, {}, [], 5]) {
      const response = await post(body);
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: Json };
      expect(error).toMatchObject({ type: 'invalid_request_error' });
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
    }
    expect(engine.calls).toHaveLength(0);
  });

  it.each(['before', 'after'])(
    'D40 an engine that fails %s its first event, without a word, is told by its status',
    async (when) => {
      engine.script = (call) => {
        engine.openStream(call);
        if (when === 'after') call.response.write(engine.events(call, answerOf('never'))[0]);
        call.response.end('data: {"error":{"message":"overloaded","type":"ServiceUnavailable","code":503}}\n\n');
      };
      const response = await post({ input: 'fail', stream: true });
      expect(response.status).toBe(503);
      expect(((await response.json()) as { error: Json }).error).toMatchObject({ message: 'overloaded' });
    },
  );

  describe('D41 an engine whose connection is cut', () => {
    const cutAfter =
      (events: number) =>
      (call: EngineCall): void => {
        engine.openStream(call);
        const sent = engine.events(call, answerOf('one two three')).slice(0, events).join('');
        if (sent === '') call.response.destroy();
        else call.response.write(sent, () => call.response.destroy());
      };

    it.each([
      { stream: false, events: 0 },
      { stream: true, events: 0 },
      { stream: true, events: 1 },
    ])('before the first word: a 502 that clients try again ($stream, $events events)', async ({ stream, events }) => {
      engine.script = (call) => (stream ? cutAfter(events)(call) : call.response.destroy());
      await expect(client.responses.create({ input: 'cut', stream })).rejects.toMatchObject({
        status: 502,
        type: 'server_error',
      });
      const calls = engine.calls.length;
      engine.script = (call) =>
        engine.calls.length === calls + 1 ? call.response.destroy() : engine.answer(call, answerOf('Back'));
      const again = await client.responses.create({ input: 'cut again' }, { maxRetries: 2 });
      expect(again.output_text).toBe('Back');
    });

    it('after it: an error and response.failed, and OpenAI’s client throws', async () => {
      engine.script = cutAfter(3);
      const response = await post({ input: 'cut in the middle', stream: true });
      expect(response.status).toBe(200);
      const events = (await response.text())
        .split('\n\n')
        .filter(Boolean)
        .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as Json);
      expect(events.slice(-2)).toMatchObject([
        { type: 'error', code: 'engine-stream-broken', error: { type: 'server_error' } },
        { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' }, output: [] } },
      ]);
      const turnId = response.headers.get('x-hindcast-turn-id')!;
      expect((await bus.messageOf('turnClosed', turnId)).body).toMatchObject({ reason: 'failed' });
      await expect(ask({ input: 'cut once more' }, true)).rejects.toBeInstanceOf(OpenAI.APIError);
    });
  });
});
