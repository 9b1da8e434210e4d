import { queries, type TurnStory } from '@hindcast/contracts';
import type { Subscription } from '@nats-io/nats-core';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';
import { story } from './testing/ledger-stories';

describe('feedback', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let other: RunningGateway;
  let bus: BusReader;
  const ledger: Subscription[] = [];

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url };
    [gateway, other] = await Promise.all([startTestGateway(env), startTestGateway(env)]);
    bus = await BusReader.connect(nats.url);
    for (const { url } of [gateway, other])
      await eventually(async () => (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]'));
  });
  afterEach(() => ledger.splice(0).forEach((subscription) => subscription.unsubscribe()));
  afterAll(async () => {
    await Promise.all([gateway.stop(), other.stop()]);
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
  beforeEach(() => {
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });

  const ask = async (question: string, extra: object = {}): Promise<{ turns: string[]; id: string }> => {
    const response = await gateway.chat({ messages: userSays(question), ...extra });
    const { id } = (await response.json()) as { id: string };
    const ids = response.headers.get('x-hindcast-turn-ids') ?? response.headers.get('x-hindcast-turn-id')!;
    return { turns: ids.split(','), id };
  };
  const give = async (body: object, to = gateway): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${to.url}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const ledgerSays = async (turnId: string, state: TurnStory['state'] | null): Promise<void> => {
    ledger.splice(0).forEach((subscription) => subscription.unsubscribe());
    const turn: TurnStory = { ...story, turnId, state: state ?? 'open' };
    const answer = JSON.stringify(state === null ? { found: false } : { found: true, turn });
    ledger.push(bus.raw.subscribe(queries.turn.subject, { callback: (_, message) => void message.respond(answer) }));
    await bus.raw.flush();
  };
  const stored = async (key: string): Promise<object | null> => {
    const entry = await (await bus.bucket('feedback')).get(key);
    return entry && entry.operation === 'PUT' ? { ...entry.json<object>(), revision: entry.revision } : null;
  };

  it('the same feedback twice has one effect and one answer, also through another gateway', async () => {
    const { turns } = await ask('once');
    await ledgerSays(turns[0]!, 'open');
    const said = { turn_id: turns[0]!, reward: 1, comment: 'good' };
    const accepted = { status: 200, body: { turn_id: turns[0], status: 'accepted' } };
    expect(await give(said)).toEqual(accepted);
    const first = await stored(turns[0]!);
    for (const state of ['paired', 'decided', 'trained'] as const) {
      await ledgerSays(turns[0]!, state);
      expect(await give(said)).toEqual(accepted);
      expect(await give(said, other)).toEqual(accepted);
    }
    expect(await stored(turns[0]!)).toEqual(first);
    expect((await bus.messages('turnPaired')).filter(({ turnId }) => turnId === turns[0])).toHaveLength(1);
  });

  it('other feedback replaces it until the turn is decided; what comes later is recorded beside it and answered late', async () => {
    const { turns } = await ask('changed my mind');
    const turnId = turns[0]!;
    await ledgerSays(turnId, 'open');
    await give({ turn_id: turnId, reward: 1 });
    await ledgerSays(turnId, 'judged');
    expect((await give({ turn_id: turnId, reward: -1, correction: 'Shorter.' })).body['status']).toBe('accepted');
    expect(await stored(turnId)).toMatchObject({ reward: -1, correction: 'Shorter.' });
    await ledgerSays(turnId, 'trained');
    for (let time = 0; time < 2; time++)
      expect((await give({ turn_id: turnId, reward: 0 })).body).toEqual({ turn_id: turnId, status: 'late' });
    expect(await stored(turnId)).toMatchObject({ reward: -1, correction: 'Shorter.' });
    expect(await stored(`late.${turnId}`)).toMatchObject({ reward: 0, correction: null });
    expect((await give({ turn_id: turnId, reward: -1, correction: 'Shorter.' })).body['status']).toBe('accepted');
  });

  it('feedback on every choice, by turn id and by response id: each is paired, none supersedes another', async () => {
    engine.script = (call) => engine.answer(call, { ...answerOf('A'), others: [answerOf('B'), answerOf('C')] });
    const { turns, id } = await ask('which?', { n: 3 });
    await ledgerSays('', null);
    expect((await give({ response_id: `${id}:1`, reward: -1 })).body).toEqual({
      turn_id: turns[1],
      status: 'accepted',
    });
    expect((await give({ response_id: id, reward: 1 })).body).toEqual({ turn_id: turns[0], status: 'accepted' });
    expect((await give({ turn_id: turns[2], reward: 0 }, other)).body).toEqual({
      turn_id: turns[2],
      status: 'accepted',
    });
    const answers = await Promise.all(turns.map((turnId) => bus.messageOf('turnPaired', turnId)));
    expect(answers.map(({ body }) => [body.answer, body.nextState])).toEqual([
      ['A', []],
      ['B', []],
      ['C', []],
    ]);
    expect(await stored(turns[1]!)).toMatchObject({ reward: -1 });
  });

  it('a response id in turn_id, or a turn id in response_id, means the turn; one that nobody knows is 404', async () => {
    engine.script = (call) => engine.answer(call, { ...answerOf('A'), id: `my id/é ${engine.calls.length}` });
    const { turns, id } = await ask('which id?');
    await ledgerSays('', null);
    const accepted = { status: 200, body: { turn_id: turns[0], status: 'accepted' } };
    expect(await give({ turn_id: id, reward: 1 })).toEqual(accepted);
    expect(await give({ response_id: id, reward: 1 })).toEqual(accepted);
    expect(await give({ response_id: turns[0], reward: 1 })).toEqual(accepted);
    expect(await stored(turns[0]!)).toMatchObject({ reward: 1 });
    for (const unknown of ['chatcmpl-nobody', 'no id/é'])
      for (const field of ['turn_id', 'response_id'])
        expect((await give({ [field]: unknown, reward: 1 })).status).toBe(404);
    await ledgerSays(turns[0]!, 'open');
    expect(await give({ turn_id: 'known to the ledger', reward: 1 }, other)).toEqual(accepted);
  });

  it('while the ledger is away, feedback on a turn that is known without it is accepted; a response id that is not known is 503', async () => {
    const { turns, id } = await ask('ledger away');
    expect((await give({ response_id: id, reward: 1 })).body).toEqual({ turn_id: turns[0], status: 'accepted' });
    expect((await give({ response_id: 'chatcmpl-unknown', reward: 1 })).status).toBe(503);
  });

  it('feedback on an answer that was not captured is late: nothing will be trained on it', async () => {
    const { turns } = await ask('warm', { temperature: 0.5 });
    await ledgerSays('', null);
    expect((await give({ turn_id: turns[0], reward: 1 })).body['status']).toBe('late');
  });

  it.each([
    { body: { reward: 1 }, message: 'give either turn_id or response_id', param: 'turn_id' },
    { body: { turn_id: 'x', reward: 5 }, message: 'reward must be -1, 0 or 1', param: 'reward' },
  ])('$message: a plain 400 that names $param', async ({ body, message, param }) => {
    expect(await give(body)).toEqual({
      status: 400,
      body: { error: { message, type: 'invalid_request_error', code: 'invalid-request', param } },
    });
  });
});
