import { answerOf, type FakeEngine } from './testing/fake-engine';
import { type BusReader, eventually, userSays, type RunningGateway } from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

describe('a request whose user does not want to be trained on', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage();
    ({ engine, gateway, bus } = stage);
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });
  afterAll(() => stage.stop());

  const ask = async (body: object, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await gateway.chat(body, headers);
    expect(response.status).toBe(200);
    await response.text();
    return response;
  };
  const turnOf = (response: Response): string | null => response.headers.get('x-hindcast-turn-id');

  it.each([
    { how: 'by header', headers: { 'x-hindcast-train': '0' }, body: {} },
    { how: 'by body field', headers: {}, body: { train: false } },
    { how: 'streamed', headers: { 'x-hindcast-train': 'no' }, body: { stream: true } },
    { how: 'several choices', headers: { 'x-hindcast-train': 'false' }, body: { n: 2 } },
  ])(
    '$how: answered, not captured, counted; the engine is asked for nothing and told nothing',
    async ({ how, headers, body }) => {
      const before = await gateway.metric('skipped_total', 'no-consent');
      const response = await ask({ messages: userSays(`private ${how}`), ...body }, headers as Record<string, string>);
      expect([turnOf(response), response.headers.get('x-hindcast-turn-ids')]).toEqual([null, null]);
      const sent = engine.calls.at(-1)!;
      for (const field of ['train', 'return_token_ids', 'logprobs']) expect(sent.body).not.toHaveProperty(field);
      expect(sent.rawHeaders.toLowerCase()).not.toContain('hindcast');
      expect(await gateway.metric('skipped_total', 'no-consent')).toBe(before + 1);
      expect(await gateway.metric('answers_ended_total')).toBe(0);
      const captures = await bus.bucket('captures');
      for await (const key of await captures.keys()) expect(key).toBe('none');
      expect(await bus.openKeys()).toEqual([]);
    },
  );

  it('it is no next state: the turn before it waits for what may be used; a side request may', async () => {
    const turnId = turnOf(await ask({ messages: userSays('open question') }))!;
    await ask({ messages: userSays('open question', 'Hello', 'a secret'), train: false });
    await ask({ messages: userSays('open question', 'Hello', 'for all to read'), turn_type: 'side' });
    const { body } = await bus.messageOf('turnPaired', turnId);
    expect(body.nextState.map(({ text }) => text)).toEqual(['for all to read']);
    expect(JSON.stringify(await bus.messages('turnPaired'))).not.toContain('secret');
  });

  it('a yes is served and captured like a request that says nothing, and stays inside too', async () => {
    const turnId = turnOf(await ask({ messages: userSays('fine'), train: true }, { 'x-hindcast-train': '1' }));
    expect(engine.calls.at(-1)!.body).not.toHaveProperty('train');
    await eventually(() => bus.capture(turnId!));
  });

  it('it may still end its session', async () => {
    const session = { session_id: 'private end' };
    const turnId = turnOf(await ask({ messages: userSays('before the end'), ...session }))!;
    await ask({ messages: userSays('the end'), ...session, session_done: true, train: false });
    expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('expired');
  });
});
