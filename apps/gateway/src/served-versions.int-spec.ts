import { answerOf, sendJson, type FakeEngine } from './testing/fake-engine';
import { eventually, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { resetEngine, startPairingStage, type PairingStage } from './testing/pairing-stage';

describe('the version that serves', () => {
  let stage: PairingStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let other: RunningGateway;
  let bus: BusReader;
  let ask: PairingStage['ask'];

  beforeAll(async () => {
    stage = await startPairingStage();
    ({ engine, gateway, other, bus, ask } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => resetEngine(stage));

  it('new requests go to the new version at once; names that are listed are served as named', async () => {
    engine.models = [{ id: 'seed' }, { id: 'hindcast-v000001', parent: 'seed' }];
    await bus.setPolicy('current', { version: 1, adapter: 'hindcast-v000001', engines: [engine.url], at: 1 });
    await eventually(async () => (await gateway.metric('policy_version')) === 1);
    const current = await ask(userSays('who?'));
    expect(engine.calls.at(-1)!.body['model']).toBe('hindcast-v000001');
    expect((await bus.messageOf('turnCaptured', current)).body).toMatchObject({
      policyVersion: 1,
      model: 'hindcast-v000001',
    });
    const base = await gateway.chat({ model: 'seed', messages: userSays('base') });
    expect((await bus.messageOf('turnCaptured', base.headers.get('x-hindcast-turn-id')!)).body.policyVersion).toBe(0);
    expect((await other.chat({ model: 'gpt-4', messages: userSays('x') })).status).toBe(404);
    const models = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toEqual(['seed', 'hindcast-v000001']);
  });

  it('an engine that lacks the adapter is asked once more, and what answered is recorded', async () => {
    await bus.setPolicy('current', { version: 9, adapter: 'hindcast-v000009', engines: [engine.url], at: 1 });
    await eventually(async () => (await gateway.metric('policy_version')) === 9);
    engine.models = [{ id: 'seed' }, { id: 'hindcast-v000004', parent: 'seed' }];
    engine.script = (call) =>
      engine.models.some(({ id }) => id === call.body['model'])
        ? engine.answer(call, answerOf('older'))
        : sendJson(call.response, 404, {
            error: { message: 'The model does not exist.', type: 'NotFoundError', code: 404 },
          });
    const turnId = await ask(userSays('fallback'));
    expect(engine.calls.map(({ body }) => body['model'])).toEqual(['hindcast-v000009', 'hindcast-v000004']);
    expect((await bus.messageOf('turnCaptured', turnId)).body).toMatchObject({
      policyVersion: 4,
      model: 'hindcast-v000004',
    });
    await bus.setPolicy('current', { version: 0, adapter: null, engines: [engine.url], at: 1 });
    await eventually(async () => (await gateway.metric('policy_version')) === 0);
  });
});
