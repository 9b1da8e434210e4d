import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const LOG_PROBS = [-0.1, -1.7000000476837158, -3.3e-5, -12.25, 0];

describe('stored log-probs', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, OFF_POLICY: 'train' });
    const tokens = LOG_PROBS.map((logProb, index) => ({ text: ` ${index}`, id: index + 1, logProb }));
    engine.script = (call) => engine.answer(call, { tokens });
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  it.each([
    { temperature: 1 },
    { temperature: 0.6 },
    { temperature: 2 },
    { temperature: 0.7, top_p: 0.9 },
    { temperature: 1, presence_penalty: 1 },
  ])('D27: are the engine’s numbers with %j, scaled by nothing', async (sampling) => {
    for (const stream of [false, true]) {
      const response = await gateway.chat({
        messages: userSays(`at ${JSON.stringify(sampling)} ${stream}`),
        stream,
        ...sampling,
      });
      await response.text();
      const turnId = response.headers.get('x-hindcast-turn-id')!;
      await bus.messageOf('turnCaptured', turnId);
      const capture = await bus.capture(turnId);
      expect([...capture!.rolloutLogProbs]).toEqual(LOG_PROBS.map(Math.fround));
      expect(capture!.header.sampling.temperature).toBe(sampling.temperature);
    }
  });
});
