import { userIdOf } from '@hindcast/platform';
import { jetstreamManager } from '@nats-io/jetstream';
import fc from 'fast-check';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerRoute, engineRoutes } from './testing/engine-routes';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const SECRET = 'a secret of all gateways';
/** In every text that must not leave the gateway: one search finds any of them. */
const MARK = 'q7Zx';

describe('what a request says about its reward', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  /** Subject, headers and data of everything that was sent through NATS, also what is removed again. */
  const heard: string[] = [];

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    bus.raw.subscribe('>', {
      callback: (_, { subject, headers, data }) =>
        void heard.push(`${subject}\n${headers?.toString() ?? ''}\n${Buffer.from(data).toString('latin1')}`),
    });
    await bus.raw.flush();
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      SESSION_SECRET: SECRET,
      REDACTION: 'builtin',
    });
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  });
  beforeEach(() => {
    engine.script = (call) => answerRoute(engine, call);
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const turnOf = async (response: Response): Promise<string> => {
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    return response.headers.get('x-hindcast-turn-id')!;
  };
  const giveOutcome = async (session: string): Promise<void> => {
    expect((await send(`/v1/sessions/${session}/outcome`, { reward: 1 })).status).toBe(200);
  };

  const chats = engineRoutes.filter(({ enginePath }) => enginePath === '/v1/chat/completions');

  describe.each(chats)('$name', ({ path, body }) => {
    const inHeaders: Record<string, string> = { 'x-session-outcome': 'pending', 'x-session-id': 'h' };
    it.each([
      { how: 'by header', session: 'h', fields: {}, headers: inHeaders },
      { how: 'in the body', session: 'b', fields: { session_outcome: 'pending', session_id: 'b' }, headers: {} },
    ])('marks its turn $how, from the capture to the pair', async ({ session, fields, headers }) => {
      const turnId = await turnOf(await send(path, { ...body, ...fields }, headers));
      expect((await bus.messageOf('turnCaptured', turnId)).body).toMatchObject({
        untrainable: null,
        outcomePending: true,
      });
      await giveOutcome(session);
      expect((await bus.messageOf('turnPaired', turnId)).body).toMatchObject({ outcomePending: true, nextState: [] });
    });

    it('leaves a turn alone that is not marked', async () => {
      const turnId = await turnOf(await send(path, { ...body, session_id: 'plain' }));
      expect((await bus.messageOf('turnCaptured', turnId)).body.outcomePending).toBe(false);
      await giveOutcome('plain');
      expect((await bus.messageOf('turnPaired', turnId)).body).toMatchObject({
        outcomePending: false,
        groundTruth: null,
      });
    });

    it('brings its ground truth to the pair, and keeps personal data out of it', async () => {
      for (const [given, kept] of [
        ['\\frac{1}{2} is 0.5', '\\frac{1}{2} is 0.5'],
        ['ann@mail.example.org', '[email]'],
      ]) {
        const turnId = await turnOf(await send(path, { ...body, session_id: 'truth', ground_truth: given }));
        await giveOutcome('truth');
        expect((await bus.messageOf('turnPaired', turnId)).body.groundTruth).toBe(kept);
      }
    });

    it.each([
      { why: 'a mark without a session', fields: { session_outcome: 'pending' }, says: 'needs a session' },
      { why: 'an unknown mark', fields: { session_outcome: 'done', session_id: 's' }, says: 'must be pending' },
      { why: 'a truth that is no text', fields: { ground_truth: 7 }, says: 'ground_truth must be a text' },
    ])('refuses $why, before any engine is asked', async ({ fields, says }) => {
      const calls = engine.calls.length;
      const response = await send(path, { ...body, ...fields });
      const { error } = (await response.json()) as { error: { message: string; type: string } };
      expect([response.status, error.type]).toEqual([400, 'invalid_request_error']);
      expect(error.message).toContain(says);
      expect(engine.calls).toHaveLength(calls);
    });

    it('names its end user by an HMAC', async () => {
      const name = { '/v1/messages': 'metadata' }[path] ?? 'safety_identifier';
      const given = `${MARK} ann@home`;
      const turnId = await turnOf(
        await send(path, { ...body, [name]: name === 'metadata' ? { user_id: given } : given }),
      );
      const { userId } = (await bus.messageOf('turnCaptured', turnId)).body;
      expect(userId).toBe(userIdOf(Buffer.from(SECRET), 'default', given));
    });
  });

  it('is kept for every choice of an answer', async () => {
    engine.script = (call) => engine.answer(call, { ...answerOf('A'), others: [answerOf('B')] });
    const body = { messages: userSays('two?'), n: 2, session_id: 'choices', session_outcome: 'pending', user: 'u' };
    const response = await send('/v1/chat/completions', { ...body, ground_truth: 'one' });
    await response.text();
    const turns = response.headers.get('x-hindcast-turn-ids')?.split(',') ?? [];
    expect(turns).toHaveLength(2);
    await giveOutcome('choices');
    for (const turnId of turns) {
      expect((await bus.messageOf('turnPaired', turnId)).body).toMatchObject({
        outcomePending: true,
        groundTruth: 'one',
        nextState: [],
      });
    }
  });

  it('goes with a pair by the next message as well', async () => {
    const first = { messages: userSays('so?'), session_id: 'next', session_outcome: 'pending', ground_truth: '42' };
    const turnId = await turnOf(await send('/v1/chat/completions', first));
    await turnOf(await send('/v1/chat/completions', { messages: userSays('so?', 'Hello there', 'No: 42.') }));
    const { body } = await bus.messageOf('turnPaired', turnId);
    expect(body).toMatchObject({ outcomePending: true, groundTruth: '42', nextState: [{ text: 'No: 42.' }] });
  });

  it('stays at the gateway, whatever it is: no engine gets any of it', async () => {
    const text = fc.oneof(
      fc.string().map((rest) => MARK + rest),
      fc.constant('pending'),
    );
    const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text));
    const own = fc.record(
      { session_outcome: value, ground_truth: value, session_id: value, turn_type: value },
      { requiredKeys: [] },
    );
    const headers = fc.record(
      {
        'x-session-outcome': fc.constantFrom('pending', MARK),
        'x-ground-truth': fc.constant(MARK),
        'x-session-id': fc.constant(MARK),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...engineRoutes), own, headers, async ({ path, body }, fields, said) => {
        const metadata = path === '/v1/messages' && { metadata: { user_id: MARK } };
        engine.calls.length = 0;
        const response = await send(path, { ...body, ...metadata, ...fields }, said);
        await response.text();
        expect([200, 400]).toContain(response.status);
        expect(engine.calls).toHaveLength(response.status === 200 ? 1 : 0);
        for (const call of engine.calls) {
          expect(`${call.rawHeaders}\n${call.text}`).not.toContain(MARK);
          for (const field of ['session_outcome', 'ground_truth', 'session_id', 'turn_type', 'user'])
            expect(call.body).not.toHaveProperty(field);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('holds no user’s own id on the bus, in a stream or in a bucket', async () => {
    for (const [path, fields] of [
      ['/v1/chat/completions', { user: `${MARK}-user` }],
      ['/v1/messages', { model: 'seed', max_tokens: 9, metadata: { user_id: `${MARK}-metadata` } }],
    ] as const) {
      const turnId = await turnOf(await send(path, { messages: userSays('who am I?'), ...fields, session_id: 'who' }));
      await bus.messageOf('turnCaptured', turnId);
    }
    await giveOutcome('who');
    const manager = await jetstreamManager(bus.raw);
    const stored: string[] = [];
    for await (const { config, state } of manager.streams.list())
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await manager.streams.getMessage(config.name, { seq }).catch(() => null);
        if (message) stored.push(Buffer.from(message.data).toString('latin1'));
      }
    expect(stored.some((text) => text.includes('who am I?'))).toBe(true);
    expect(stored.filter((text) => text.includes(`${MARK}-`))).toEqual([]);
    expect(heard.some((text) => text.includes('who am I?'))).toBe(true);
    expect(heard.filter((text) => text.includes(`${MARK}-`))).toEqual([]);
  });
});
