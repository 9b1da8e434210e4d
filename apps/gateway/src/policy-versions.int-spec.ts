import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

// Which version answers, and that no capture ever names another one than that which did.

let nats: NatsServer;
let bus: BusReader;
let engine: FakeEngine;
let gateway: RunningGateway;

const start = async (dialect: 'vllm' | 'sglang' = 'vllm'): Promise<void> => {
  engine = await FakeEngine.start(dialect);
  gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
};
const announce = async (policy: object, version: number): Promise<void> => {
  await eventually(() => bus.setPolicy('current', { engines: [engine.url], at: 1, ...policy }).then(() => true));
  await eventually(async () => (await gateway.metric('policy_version')) === version);
};
const chat = async (messages: object[], headers: Record<string, string> = {}): Promise<Response> => {
  const response = await gateway.chat({ messages }, headers);
  expect(response.status).toBe(200);
  return response;
};
const captured = async (response: Response) =>
  (await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!)).body;
const asked = (): unknown => engine.calls.at(-1)!.body['model'];

beforeEach(async () => {
  nats = await startNatsServer();
  bus = await BusReader.connect(nats.url);
});
afterEach(async () => {
  await gateway.stop();
  await engine.stop();
  await bus.close();
  await nats.stop();
});

describe('a version on trial', () => {
  const SHARE = 0.5;
  beforeEach(async () => {
    await start();
    engine.models = ['seed', 'hindcast-v000001', 'hindcast-v000002'].map((id) => ({
      id,
      parent: id === 'seed' ? null : 'seed',
    }));
    const canary = { version: 2, adapter: 'hindcast-v000002', engines: [engine.url], share: SHARE, at: 1 };
    await announce({ version: 1, adapter: 'hindcast-v000001', canary }, 1);
  });

  it('answers its share of the sessions, each of which stays on its version; captures name the one that answered', async () => {
    const sessions = Array.from({ length: 60 }, (_, i) => `session ${i}`);
    const models = new Map<string, unknown>();
    for (const session of sessions) {
      await chat(userSays('first'), { 'x-session-id': session });
      models.set(session, asked());
    }
    const share = [...models.values()].filter((model) => model === 'hindcast-v000002').length / sessions.length;
    expect(share).toBeGreaterThan(SHARE - 0.25);
    expect(share).toBeLessThan(SHARE + 0.25);
    for (const session of sessions.slice(0, 12)) {
      const response = await chat(userSays('something else'), { 'x-session-id': session });
      expect(asked()).toBe(models.get(session));
      const version = models.get(session) === 'hindcast-v000002' ? 2 : 1;
      expect(await captured(response)).toMatchObject({ policyVersion: version, untrainable: null });
    }
  });

  it('a conversation without a session stays on its version as it grows', async () => {
    const seen = new Set<unknown>();
    for (let i = 0; i < 12; i++) {
      await chat(userSays(`question ${i}`));
      const model = asked();
      seen.add(model);
      await chat(userSays(`question ${i}`, 'Hello', 'and then?'));
      expect(asked()).toBe(model);
    }
    expect(seen.size).toBe(2);
  });

  it('a slow stream that began on a version ends on it, whatever serves by then, and is captured as its', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    engine.script = async (call) => {
      engine.openStream(call);
      const [first, ...rest] = engine.events(call, answerOf('one two three'));
      call.response.write(first!);
      await gate;
      for (const event of rest) call.response.write(event);
      call.response.end();
    };
    await announce({ version: 1, adapter: 'hindcast-v000001' }, 1);
    const response = await gateway.chat({ messages: userSays('slowly'), stream: true });
    await announce({ version: 2, adapter: 'hindcast-v000002' }, 2);
    release();
    expect(await response.text()).toContain('three');
    expect(engine.calls.map(({ body }) => body['model'])).toEqual(['hindcast-v000001']);
    expect(await captured(response)).toMatchObject({ policyVersion: 1, untrainable: null });
  });

  it('is over when the board says so', async () => {
    await announce({ version: 2, adapter: 'hindcast-v000002' }, 2);
    for (let i = 0; i < 8; i++) {
      await chat(userSays('hi'), { 'x-session-id': `session ${i}` });
      expect(asked()).toBe('hindcast-v000002');
    }
  });
});

describe.each(['vllm', 'sglang'] as const)('weights without a name, %s', (dialect) => {
  const serving = (version: number): Promise<void> =>
    announce({ version, adapter: null, weights: 'replaced' }, version);
  beforeEach(async () => {
    await start(dialect);
    engine.weightVersion = dialect === 'sglang' ? 'default' : null;
  });

  it('the version is the one that the engine says it has, before and after the answer', async () => {
    await serving(0);
    expect(await captured(await chat(userSays('base')))).toMatchObject({ policyVersion: 0, untrainable: null });
    engine.weightVersion = 'hindcast-v000005@17';
    await serving(5);
    // What the gateway remembers of the engine is older than the update.
    await captured(await chat(userSays('first')));
    const body = await captured(await chat(userSays('second')));
    expect(body).toMatchObject({ policyVersion: 5, model: 'seed', untrainable: null });
  });

  it('weights that are replaced while it answers: served, and refused', async () => {
    engine.weightVersion = 'hindcast-v000005@17';
    await serving(5);
    await captured(await chat(userSays('first')));
    engine.script = (call) => {
      engine.weightVersion = 'hindcast-v000006@18';
      engine.answer(call, answerOf('half and half'));
    };
    expect(await captured(await chat(userSays('second')))).toMatchObject({ untrainable: 'off-policy:weights' });
  });

  it('an engine that was restarted has the base model: its answers are no version’s until it is updated', async () => {
    engine.weightVersion = 'hindcast-v000005@17';
    await serving(5);
    await captured(await chat(userSays('first')));
    engine.weightVersion = dialect === 'sglang' ? 'default' : null;
    for (const text of ['second', 'third'])
      expect(await captured(await chat(userSays(text)))).toMatchObject({ untrainable: 'off-policy:weights' });
    engine.weightVersion = 'hindcast-v000005@19';
    await captured(await chat(userSays('fourth')));
    expect(await captured(await chat(userSays('fifth')))).toMatchObject({ policyVersion: 5, untrainable: null });
  });

  it('is asked of the engine also by a gateway that never read the board', async () => {
    engine.weightVersion = 'hindcast-v000005@17';
    await gateway.stop();
    await nats.kill();
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
    const response = await chat(userSays('nobody told me'));
    await nats.restart();
    expect(await captured(response)).toMatchObject({ policyVersion: 5, untrainable: null });
  });
});
