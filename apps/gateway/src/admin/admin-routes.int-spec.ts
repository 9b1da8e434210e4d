import { decodeNumbers } from '@hindcast/contracts';
import { codeOf, startAdminStage, type AdminStage } from '../testing/admin-stage';
import { answerOf } from '../testing/fake-engine';
import { overviewAnswer, turnDetail, turnRow } from '../testing/fake-ledger';
import { startTestGateway, userSays } from '../testing/gateway-harness';
import { keyOf } from '../testing/keys';

type Json = Record<string, unknown>;

const TURN = '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1';

let stage: AdminStage;
beforeAll(async () => (stage = await startAdminStage()));
afterAll(() => stage.stop());
beforeEach(() => {
  stage.ledger.answers = {};
  stage.ledger.asked.length = 0;
  stage.engine.script = (call) => stage.engine.answer(call, answerOf('Hello there'));
});

describe('overview', () => {
  it('tells the books, the trainer, the policy, engines, services and broker', async () => {
    stage.ledger.answers.overview = () => overviewAnswer();
    await stage.bus.setPolicy('trainer', {
      batchSize: 16,
      batchMin: 4,
      method: 'combine',
      backend: 'wasm',
      wRl: 1,
      wOpd: 2,
    });
    const { status, body } = await stage.get('overview');
    expect(status).toBe(200);
    expect(stage.ledger.questions('overview')).toEqual([{ tenant: null }]);
    const host = stage.engine.url.replace('http://', '');
    expect(body).toEqual({
      ledger: overviewAnswer(),
      batch: { size: 16, min: 4 },
      method: 'combine',
      policy: { version: 0, adapter: null, since: 0, canary: null },
      engines: [{ url: `http://${host}`, ok: true, detail: null, models: stage.engine.models.map(({ id }) => id) }],
      services: [expect.objectContaining({ app: 'gateway', ready: true })],
      broker: { ok: true, durability: 'process-death' },
    });
    expect((body['services'] as Json[])[0]).not.toHaveProperty('settings');
  });

  it('is there without a ledger', async () => {
    expect(await stage.get('overview')).toMatchObject({ status: 200, body: { ledger: null, broker: { ok: true } } });
  });

  it('is there without NATS', async () => {
    const alone = await startTestGateway({ NATS_URL: 'nats://127.0.0.1:1', POLICY_BASE_URL: stage.engine.url });
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

  it('is there while the broker is silent', async () => {
    const { nats } = stage;
    process.kill(nats.pid, 'SIGSTOP');
    try {
      const headers = { authorization: 'Bearer roots' };
      const response = await fetch(`${stage.gateway.url}/admin/v1/overview`, { headers });
      expect(await response.json()).toMatchObject({ ledger: null, batch: null, engines: [{ ok: true }] });
    } finally {
      process.kill(nats.pid, 'SIGCONT');
    }
  });
});

describe('turns', () => {
  it('are asked for with every filter; empty ones are none', async () => {
    stage.ledger.answers.turns = () => ({ turns: [turnRow()], next: 'c2' });
    const query =
      'state=decided&case=opdRl&reason=off-policy:*&session=0123456789abcdef&tenant=ann&version=3&text=a+b&before=c1&limit=20';
    expect(await stage.get(`turns?${query}`)).toMatchObject({ status: 200, body: { turns: [turnRow()], next: 'c2' } });
    expect((await stage.get('turns?state=&tenant=&limit=')).status).toBe(200);
    expect(stage.ledger.questions('turns')).toEqual([
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
    expect(codeOf(await stage.get('turns'))).toBe('ledger-unavailable');
  });

  it.each([
    ['turns?state=lost', 'state'],
    ['turns?limit=201', 'limit'],
    ['turns?limit=-1', 'limit'],
    ['turns?version=1.5', 'version'],
    ['turns?version=2147483648', 'version'],
    ['turns?tenant=%00', 'tenant'],
    ['steps?before=2147483648', 'before'],
    ['turns?session=my-session', 'session'],
    ['turns?text=a&text=b', 'text'],
    ['turns?sate=open', 'sate'],
    [`turns?text=${'a'.repeat(201)}`, 'text'],
    ['steps?limit=1001', 'limit'],
    ['policies?before=-1', 'before'],
    ['judge?days=91', 'days'],
    ['dead-letters?limit=0', 'limit'],
  ])('%s: 400', async (path, param) => {
    stage.ledger.answers.versions = () => ({ versions: [], next: null });
    const { status, body } = await stage.get(path);
    expect([status, body['error']]).toMatchObject([400, { code: 'invalid-request', param }]);
    expect(stage.ledger.asked).toEqual([]);
  });
});

describe('one turn', () => {
  beforeEach(async () => {
    await stage.bus.setPolicy('trainer', {
      batchSize: 16,
      batchMin: 4,
      method: 'combine',
      backend: 'wasm',
      wRl: 1,
      wOpd: 2,
    });
  });
  const advantagesOf = (body: Json): number[] | null => {
    const expected = body['expected'] as { advantages: Parameters<typeof decodeNumbers>[0] } | null;
    return expected && [...decodeNumbers(expected.advantages)];
  };

  it('comes with what its advantages would be', async () => {
    stage.ledger.answers.turnDetail = () => ({ found: true, detail: turnDetail() });
    const { status, body } = await stage.get('turns/chatcmpl-1');
    expect([status, body['detail']]).toEqual([200, turnDetail()]);
    expect(stage.ledger.questions('turnDetail')).toEqual([{ tenant: null, id: 'chatcmpl-1' }]);
    expect(body['expected']).toMatchObject({ wRl: 1, wOpd: 2 });
    expect(advantagesOf(body)).toEqual([1.5, 0]);
  });

  it('that is not known: 404', async () => {
    stage.ledger.answers.turnDetail = () => ({ found: false });
    expect(codeOf(await stage.get('turns/nowhere'))).toBe('turn-not-found');
    expect((await stage.get(`turns/${'x'.repeat(201)}`)).status).toBe(414);
    expect(stage.ledger.questions('turnDetail')).toHaveLength(1);
  });

  it('is given feedback for its own tenant', async () => {
    const chat = await stage.gateway.chat({ messages: userSays('Hi') }, { authorization: 'Bearer anns' });
    const turnId = chat.headers.get('x-hindcast-turn-id')!;
    await stage.bus.messageOf('turnCaptured', turnId);
    const given = await stage.post(`turns/${turnId}/feedback`, {
      reward: -1,
      comment: 'No.',
      turn_id: 'x',
      response_id: 'y',
    });
    expect(given).toMatchObject({ status: 200, body: { turn_id: turnId, status: 'accepted' } });
    expect((await (await stage.bus.bucket('feedback')).get(turnId))?.json()).toMatchObject({
      reward: -1,
      comment: 'No.',
    });
    expect(await stage.bus.messageOf('turnPaired', turnId)).toMatchObject({ tenant: 'ann' });
  });

  it('is given feedback by its response id, which the ledger knows', async () => {
    stage.ledger.answers.turnDetail = () => ({ found: true, detail: turnDetail() });
    stage.ledger.answers.turn = ({ tenant }) =>
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
    expect(await stage.post('turns/chatcmpl-1/feedback', { reward: 1, correction: 'Yes.' })).toMatchObject({
      status: 200,
      body: { turn_id: TURN, status: 'late' },
    });
  });

  it('that nobody knows gets no feedback, nor one that makes no sense', async () => {
    stage.ledger.answers.turnDetail = () => ({ found: false });
    expect(codeOf(await stage.post('turns/nowhere/feedback', { reward: 1 }))).toBe('turn-not-found');
    expect(codeOf(await stage.post(`turns/${TURN}/feedback`, { reward: 2 }))).toBe('invalid-request');
    expect(codeOf(await stage.post(`turns/${TURN}/feedback`, []))).toBe('invalid-request');
    expect(codeOf(await stage.post(`turns/${TURN}/feedback`))).toBe('invalid-json');
  });
});

it('settings are told without what is secret in them', async () => {
  const { status, body, text } = await stage.get('settings');
  expect(status).toBe(200);
  const [service] = body['services'] as { app: string; settings: Json[] }[];
  expect(service!.app).toBe('gateway');
  const setting = (name: string): Json | undefined => service!.settings.find((each) => each['name'] === name);
  expect(setting('SESSION_SECRET')).toMatchObject({ value: null, isSecret: true, isSet: true, isGiven: true });
  expect(setting('ADMIN_API_KEYS')).toMatchObject({ value: null, isSecret: true });
  expect(setting('POLICY_DIALECT')).toMatchObject({ value: 'vllm', isSecret: false });
  const told = text + (await stage.get('overview')).text;
  for (const secret of ['engine-secret', 'a-session-secret', keyOf('x', 'roots').slice(2), 'roots', 'anns'])
    expect(told).not.toContain(secret);
});
