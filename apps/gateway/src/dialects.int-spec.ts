import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

describe('D16 other dialects', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let gateway: RunningGateway | null = null;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start('sglang');
    bus = await BusReader.connect(nats.url);
  });
  afterEach(() => gateway?.stop());
  afterAll(async () => {
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  it.each([
    { dialect: 'sglang', giveIds: true, stream: true, untrainable: null },
    { dialect: 'sglang', giveIds: true, stream: false, untrainable: null },
    { dialect: 'sglang', giveIds: false, stream: true, untrainable: 'no-token-ids' },
    { dialect: 'openai', giveIds: false, stream: true, untrainable: 'no-token-ids' },
    { dialect: 'openai', giveIds: false, stream: false, untrainable: 'no-token-ids' },
  ])('$dialect, ids $giveIds, stream $stream: $untrainable', async ({ dialect, giveIds, stream, untrainable }) => {
    engine.calls.length = 0;
    engine.script = (call) => {
      // As a server does that does not know these fields.
      if (!giveIds)
        for (const field of Object.keys(call.body)) if (field.startsWith('return_')) delete call.body[field];
      engine.answer(call, answerOf('one two'));
    };
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
    const response = await gateway.chat({ messages: userSays('hi'), stream });
    expect(await response.text()).not.toMatch(/"logprob"|token_ids|sglext/);
    const { body } = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
    expect(body).toMatchObject({ untrainable, completionTokens: 2 });
    expect('top_k' in engine.calls[0]!.body).toBe(dialect !== 'openai');
  });

  it('SGLang gets an adapter as base:adapter, also when an older one must answer', async () => {
    await eventually(() => bus.bucket('policy'));
    await bus.setPolicy('current', { version: 9, adapter: 'hindcast-v000009', engines: [engine.url], at: 1 });
    engine.calls.length = 0;
    engine.models = [{ id: 'seed' }, { id: 'hindcast-v000004', parent: 'seed' }];
    engine.script = (call) =>
      call.body['model'] === 'seed:hindcast-v000004'
        ? engine.answer(call, answerOf('older'))
        : engine.refuse(call, 400, 'Got LoRA adapter that has never been loaded: hindcast-v000009');
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: 'sglang' });
    const response = await gateway.chat({ messages: userSays('hi') });
    expect(engine.calls.map(({ body }) => body['model'])).toEqual(['seed:hindcast-v000009', 'seed:hindcast-v000004']);
    const { body } = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
    expect(body).toMatchObject({ policyVersion: 4, model: 'seed:hindcast-v000004' });
  });
});
