import { createHash } from 'node:crypto';
import { decodeNumbers, type DeadLetterRow, type StepRow, type VersionRow } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from '../testing/fake-engine';
import { FakeLedger, overviewAnswer, turnDetail, turnRow } from '../testing/fake-ledger';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from '../testing/gateway-harness';

type Json = Record<string, unknown>;

const keyOf = (name: string, key: string): string => `${name}:${createHash('sha256').update(key).digest('hex')}`;
const ROOT = { authorization: 'Bearer roots' };
const AT = 1_796_000_000_000;
const TURN = '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1';

let nats: NatsServer;
let engine: FakeEngine;
let bus: BusReader;
let ledger: FakeLedger;
let gateway: RunningGateway;

beforeAll(async () => {
  nats = await startNatsServer();
  engine = await FakeEngine.start();
  bus = await BusReader.connect(nats.url);
  ledger = await FakeLedger.start(bus.raw);
  gateway = await startTestGateway({
    NATS_URL: nats.url,
    POLICY_BASE_URL: engine.url.replace('://', '://engineer:engine-secret@'),
    POLICY_API_KEY: 'sk-engine-secret',
    API_KEYS: keyOf('ann', 'anns'),
    ADMIN_API_KEYS: keyOf('root', 'roots'),
    SESSION_SECRET: 'a-session-secret-of-32-characters',
  });
  await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  // The gateway makes its buckets a moment after it is connected.
  await eventually(async () => (await bus.bucket('policy')).put('unused', '').then(() => true));
});
afterAll(async () => {
  await gateway.stop();
  ledger.stop();
  await bus.close();
  await engine.stop();
  await nats.stop();
});
beforeEach(() => {
  ledger.answers = {};
  ledger.asked.length = 0;
  engine.script = (call) => engine.answer(call, answerOf('Hello there'));
});

const get = async (path: string): Promise<{ status: number; body: Json; text: string }> => {
  const response = await fetch(`${gateway.url}/admin/v1/${path}`, { headers: ROOT });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as Json, text };
};
const post = async (path: string, body?: unknown): Promise<{ status: number; body: Json }> => {
  const response = await fetch(`${gateway.url}/admin/v1/${path}`, {
    method: 'POST',
    headers: { ...ROOT, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
};
const codeOf = ({ body }: { body: Json }): unknown => (body['error'] as Json | undefined)?.['code'];

describe('overview', () => {
  it('tells the books, the trainer, the policy, engines, services and broker', async () => {
    ledger.answers.overview = () => overviewAnswer();
    await bus.setPolicy('trainer', { batchSize: 16, batchMin: 4, method: 'combine', backend: 'wasm', wRl: 1, wOpd: 2 });
    const { status, body } = await get('overview');
    expect(status).toBe(200);
    expect(ledger.questions('overview')).toEqual([{ tenant: null }]);
    const host = engine.url.replace('http://', '');
    expect(body).toEqual({
      ledger: overviewAnswer(),
      batch: { size: 16, min: 4 },
      method: 'combine',
      policy: { version: 0, adapter: null, since: 0, canary: null },
      engines: [{ url: `http://${host}`, ok: true, detail: null, models: engine.models.map(({ id }) => id) }],
      services: [expect.objectContaining({ app: 'gateway', ready: true })],
      broker: { ok: true, durability: 'process-death' },
    });
    expect((body['services'] as Json[])[0]).not.toHaveProperty('settings');
  });

  it('is there without a ledger', async () => {
    expect(await get('overview')).toMatchObject({ status: 200, body: { ledger: null, broker: { ok: true } } });
  });

  it('is there without NATS', async () => {
    const alone = await startTestGateway({ NATS_URL: 'nats://127.0.0.1:1', POLICY_BASE_URL: engine.url });
    try {
      const response = await fetch(`${alone.url}/admin/v1/overview`);
      expect(await response.json()).toMatchObject({
        ledger: null,
        batch: null,
        services: [],
        engines: [{ ok: true }],
        broker: { ok: false, durability: null },
      });
    } finally {
      await alone.stop();
    }
  });
});

describe('turns', () => {
  it('are asked for with every filter; empty ones are none', async () => {
    ledger.answers.turns = () => ({ turns: [turnRow()], next: 'c2' });
    const query =
      'state=decided&case=opdRl&reason=off-policy:*&session=0123456789abcdef&tenant=ann&version=3&text=a+b&before=c1&limit=20';
    expect(await get(`turns?${query}`)).toMatchObject({ status: 200, body: { turns: [turnRow()], next: 'c2' } });
    expect((await get('turns?state=&tenant=&limit=')).status).toBe(200);
    expect(ledger.questions('turns')).toEqual([
      {
        tenant: 'ann',
        state: 'decided',
        case: 'opdRl',
        reason: 'off-policy:*',
        sessionId: '0123456789abcdef',
        policyVersion: 3,
        text: 'a b',
        before: 'c1',
        limit: 20,
      },
      {
        tenant: null,
        state: null,
        case: null,
        reason: null,
        sessionId: null,
        policyVersion: null,
        text: null,
        before: null,
        limit: 50,
      },
    ]);
  });

  it('without a ledger: 503', async () => {
    expect(codeOf(await get('turns'))).toBe('ledger-unavailable');
  });

  it.each([
    ['turns?state=lost', 'state'],
    ['turns?limit=201', 'limit'],
    ['turns?limit=-1', 'limit'],
    ['turns?version=1.5', 'version'],
    ['turns?session=my-session', 'session'],
    ['turns?text=a&text=b', 'text'],
    ['turns?sate=open', 'sate'],
    [`turns?text=${'a'.repeat(201)}`, 'text'],
    ['steps?limit=1001', 'limit'],
    ['policies?before=-1', 'before'],
    ['judge?days=91', 'days'],
    ['dead-letters?limit=0', 'limit'],
  ])('%s: 400', async (path, param) => {
    ledger.answers.versions = () => ({ versions: [], next: null });
    const { status, body } = await get(path);
    expect([status, body['error']]).toMatchObject([400, { code: 'invalid-request', param }]);
    expect(ledger.asked).toEqual([]);
  });
});

describe('one turn', () => {
  beforeEach(async () => {
    await bus.setPolicy('trainer', { batchSize: 16, batchMin: 4, method: 'combine', backend: 'wasm', wRl: 1, wOpd: 2 });
  });
  const advantagesOf = (body: Json): number[] | null => {
    const expected = body['expected'] as { advantages: Parameters<typeof decodeNumbers>[0] } | null;
    return expected && [...decodeNumbers(expected.advantages)];
  };

  it('comes with what its advantages would be', async () => {
    ledger.answers.turnDetail = () => ({ found: true, detail: turnDetail() });
    const { status, body } = await get('turns/chatcmpl-1');
    expect([status, body['detail']]).toEqual([200, turnDetail()]);
    expect(ledger.questions('turnDetail')).toEqual([{ tenant: null, id: 'chatcmpl-1' }]);
    expect(body['expected']).toMatchObject({ wRl: 1, wOpd: 2 });
    expect(advantagesOf(body)).toEqual([1.5, 0]);
  });

  it('that is not known: 404', async () => {
    ledger.answers.turnDetail = () => ({ found: false });
    expect(codeOf(await get('turns/nowhere'))).toBe('turn-not-found');
    expect((await get(`turns/${'x'.repeat(201)}`)).status).toBe(414);
    expect(ledger.questions('turnDetail')).toHaveLength(1);
  });

  it('is given feedback for its own tenant', async () => {
    const chat = await gateway.chat({ messages: userSays('Hi') }, { authorization: 'Bearer anns' });
    const turnId = chat.headers.get('x-hindcast-turn-id')!;
    await bus.messageOf('turnCaptured', turnId);
    const given = await post(`turns/${turnId}/feedback`, {
      reward: -1,
      comment: 'No.',
      turn_id: 'x',
      response_id: 'y',
    });
    expect(given).toEqual({ status: 200, body: { turn_id: turnId, status: 'accepted' } });
    expect((await (await bus.bucket('feedback')).get(turnId))?.json()).toMatchObject({ reward: -1, comment: 'No.' });
    expect(await bus.messageOf('turnPaired', turnId)).toMatchObject({ tenant: 'ann' });
  });

  it('is given feedback by its response id, which the ledger knows', async () => {
    ledger.answers.turnDetail = () => ({ found: true, detail: turnDetail() });
    ledger.answers.turn = ({ tenant }) =>
      tenant === 'ann'
        ? {
            found: true,
            turn: {
              turnId: TURN,
              responseId: 'chatcmpl-1',
              state: 'decided',
              case: 'opdRl',
              reason: null,
              policyVersion: 3,
              evalScore: 1,
              reward: 1,
              rewardSource: 'votes',
              hint: null,
              trainedIn: null,
            },
          }
        : { found: false };
    expect(await post('turns/chatcmpl-1/feedback', { reward: 1, correction: 'Yes.' })).toEqual({
      status: 200,
      body: { turn_id: TURN, status: 'late' },
    });
  });

  it('that nobody knows gets no feedback, nor one that makes no sense', async () => {
    ledger.answers.turnDetail = () => ({ found: false });
    expect(codeOf(await post('turns/nowhere/feedback', { reward: 1 }))).toBe('turn-not-found');
    expect(codeOf(await post(`turns/${TURN}/feedback`, { reward: 2 }))).toBe('invalid-request');
    expect(codeOf(await post(`turns/${TURN}/feedback`, []))).toBe('invalid-request');
    expect(codeOf(await post(`turns/${TURN}/feedback`))).toBe('invalid-json');
  });
});

it('steps are told, newest first', async () => {
  const step: StepRow = {
    version: 4,
    parent: 3,
    at: AT,
    state: 'published',
    reason: null,
    turns: 16,
    metrics: { 'loss/policy': -0.5 },
  };
  ledger.answers.steps = () => ({ steps: [step], next: 4 });
  expect(await get('steps?before=5&limit=1000')).toMatchObject({ status: 200, body: { steps: [step], next: 4 } });
  expect(ledger.questions('steps')).toEqual([{ before: 5, limit: 1000 }]);
});

describe('policies', () => {
  const base: VersionRow = {
    version: 0,
    state: 'base',
    reason: null,
    parent: null,
    adapter: null,
    at: null,
    driftNats: null,
    trainedTurns: 0,
    served: { turns: 3, judged: 2, meanEvalScore: 0.5, hintRate: 1 },
  };
  beforeEach(() => {
    ledger.answers.versions = () => ({ versions: [base], next: null });
  });

  it('are told with the one that serves, and what became of the last wish', async () => {
    const policy = await bus.bucket('policy');
    await policy.purge('rollback-request');
    await policy.purge('rollback-outcome');
    expect(await get('policies')).toMatchObject({
      status: 200,
      body: { versions: [base], next: null, current: { version: 0, adapter: null }, rollback: null },
    });
    const wished = await post('policies/rollback', { version: 2, reason: 'It got rude.' });
    expect(wished).toEqual({ status: 202, body: { id: expect.any(String) as string } });
    const { id } = wished.body;
    const wish = { id, version: 2, reason: 'It got rude.', at: expect.any(Number) as number };
    expect((await policy.get('rollback-request'))?.json()).toEqual(wish);
    expect((await get('policies')).body['rollback']).toEqual({ wish, answer: null });
    const answer = { id, version: 2, state: 'done', message: null, at: AT };
    await policy.put('rollback-outcome', JSON.stringify({ ...answer, id: TURN }));
    expect((await get('policies')).body['rollback']).toEqual({ wish, answer: null });
    await policy.put('rollback-outcome', JSON.stringify(answer));
    expect((await get('policies')).body['rollback']).toEqual({ wish, answer });
  });

  it.each([
    { body: {}, param: 'version' },
    { body: { version: -1 }, param: 'version' },
    { body: { version: 1.5 }, param: 'version' },
    { body: { version: '1' }, param: 'version' },
    { body: { version: 1, reason: 'x'.repeat(501) }, param: 'reason' },
    { body: { version: 1, force: true }, param: 'force' },
    { body: [], param: null },
  ])('no wish is $body', async ({ body, param }) => {
    expect(await post('policies/rollback', body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid-request', param } },
    });
  });
});

it('the judge’s work is told for everybody, or for one tenant', async () => {
  const statistics = {
    days: [],
    votes: [{ kind: 'eval' as const, score: 1 as const, count: 2 }],
    abstentions: [],
    agreement: { turns: 1, unanimous: 1 },
    human: [],
  };
  ledger.answers.judge = () => statistics;
  expect(await get('judge')).toMatchObject({ status: 200, body: statistics });
  await get('judge?days=90&tenant=ann');
  expect(ledger.questions('judge')).toEqual([
    { tenant: null, days: 14 },
    { tenant: 'ann', days: 90 },
  ]);
});

describe('dead letters', () => {
  const letter: DeadLetterRow = {
    sequence: 7,
    at: AT,
    turnId: TURN,
    tenant: 'ann',
    subject: 'rl.v1.turn.paired',
    consumer: 'judge-svc--rl-v1-turn-paired',
    code: 'max-deliveries',
    error: 'it failed',
    deliveries: 10,
  };
  const id = { sequence: 7, at: AT, tenant: null };

  it('are listed, shown, replayed and discarded', async () => {
    ledger.answers = {
      deadLetters: () => ({ letters: [letter], next: null }),
      deadLetter: () => ({ found: true, letter, message: '{}' }),
      replayDeadLetter: ({ force }) => ({
        outcome: force ? 'replayed' : 'refused',
        message: 'It breaks its contract.',
      }),
      discardDeadLetter: () => ({ outcome: 'discarded', message: 'Gone.' }),
    };
    expect(
      await get('dead-letters?code=max-deliveries&subject=rl.v1.turn.paired&tenant=ann&before=c&limit=5'),
    ).toMatchObject({ status: 200, body: { letters: [letter], next: null } });
    expect(ledger.questions('deadLetters')).toEqual([
      { tenant: 'ann', code: 'max-deliveries', subject: 'rl.v1.turn.paired', before: 'c', limit: 5 },
    ]);
    expect(await get(`dead-letters/7/${AT}`)).toMatchObject({ status: 200, body: { letter, message: '{}' } });
    expect(await post(`dead-letters/7/${AT}/replay`, {})).toMatchObject({ status: 200, body: { outcome: 'refused' } });
    expect(await post(`dead-letters/7/${AT}/replay`, { force: true })).toMatchObject({ body: { outcome: 'replayed' } });
    expect(await post(`dead-letters/7/${AT}/discard`, {})).toMatchObject({
      status: 200,
      body: { outcome: 'discarded' },
    });
    expect(ledger.questions('replayDeadLetter')).toEqual([
      { ...id, force: false },
      { ...id, force: true },
    ]);
    expect(ledger.questions('discardDeadLetter')).toEqual([id]);
  });

  it('that are none: 404', async () => {
    ledger.answers.deadLetter = () => ({ found: false });
    for (const path of [`dead-letters/8/${AT}`, 'dead-letters/0/1', 'dead-letters/x/1', 'dead-letters/1/1e3'])
      expect([path, (await get(path)).status, codeOf(await get(path))]).toEqual([path, 404, 'dead-letter-not-found']);
    expect(codeOf(await post('dead-letters/x/1/replay', {}))).toBe('dead-letter-not-found');
    expect(codeOf(await post('dead-letters/x/1/discard', {}))).toBe('dead-letter-not-found');
  });

  it('a body that makes no sense: 400', async () => {
    expect(codeOf(await post('dead-letters/1/1/replay', { force: 'yes' }))).toBe('invalid-request');
    expect(codeOf(await post('dead-letters/1/1/discard', { really: true }))).toBe('invalid-request');
    expect(ledger.asked).toEqual([]);
  });
});

it('settings are told without what is secret in them', async () => {
  const { status, body, text } = await get('settings');
  expect(status).toBe(200);
  const [service] = body['services'] as { app: string; settings: Json[] }[];
  expect(service!.app).toBe('gateway');
  const setting = (name: string): Json | undefined => service!.settings.find((each) => each['name'] === name);
  expect(setting('SESSION_SECRET')).toMatchObject({ value: null, isSecret: true, isSet: true, isGiven: true });
  expect(setting('ADMIN_API_KEYS')).toMatchObject({ value: null, isSecret: true });
  expect(setting('POLICY_DIALECT')).toMatchObject({ value: 'vllm', isSecret: false });
  const told = text + (await get('overview')).text;
  for (const secret of ['engine-secret', 'a-session-secret', keyOf('x', 'roots').slice(2), 'roots', 'anns'])
    expect(told).not.toContain(secret);
});
