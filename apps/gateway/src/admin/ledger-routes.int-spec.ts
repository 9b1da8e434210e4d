import type { DeadLetterRow, StepRow, VersionRow } from '@hindcast/contracts';
import { codeOf, startAdminStage, type AdminStage } from '../testing/admin-stage';

const AT = 1_796_000_000_000;
const TURN = '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1';

let stage: AdminStage;
beforeAll(async () => (stage = await startAdminStage()));
afterAll(() => stage.stop());
beforeEach(() => {
  stage.ledger.answers = {};
  stage.ledger.asked.length = 0;
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
  stage.ledger.answers.steps = () => ({ steps: [step], next: 4 });
  expect(await stage.get('steps?before=5&limit=1000')).toMatchObject({ status: 200, body: { steps: [step], next: 4 } });
  expect(stage.ledger.questions('steps')).toEqual([{ before: 5, limit: 1000 }]);
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
    stage.ledger.answers.versions = () => ({ versions: [base], next: null });
  });

  it('are told with the one that serves, and what became of the last wish', async () => {
    const policy = await stage.bus.bucket('policy');
    await policy.purge('rollback-request');
    await policy.purge('rollback-outcome');
    expect(await stage.get('policies')).toMatchObject({
      status: 200,
      body: { versions: [base], next: null, current: { version: 0, adapter: null }, rollback: null },
    });
    const settings = { batchSize: 16, batchMin: 4, method: 'combine', backend: 'wasm' };
    for (const kept of [undefined, [3, 2]]) {
      await policy.put('trainer', JSON.stringify({ ...settings, kept }));
      expect((await stage.get('policies')).body['kept']).toEqual(kept ?? null);
    }
    const wished = await stage.post('policies/rollback', { version: 2, reason: 'It got rude.' });
    expect(wished).toMatchObject({ status: 202, body: { id: expect.any(String) as string } });
    const { id } = wished.body;
    const wish = { id, version: 2, reason: 'It got rude.', at: expect.any(Number) as number };
    expect((await policy.get('rollback-request'))?.json()).toEqual(wish);
    expect((await stage.get('policies')).body['rollback']).toEqual({ wish, answer: null });
    const answer = { id, version: 2, state: 'done', message: null, at: AT };
    await policy.put('rollback-outcome', JSON.stringify({ ...answer, id: TURN }));
    expect((await stage.get('policies')).body['rollback']).toEqual({ wish, answer: null });
    await policy.put('rollback-outcome', JSON.stringify(answer));
    expect((await stage.get('policies')).body['rollback']).toEqual({ wish, answer });
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
    expect(await stage.post('policies/rollback', body)).toMatchObject({
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
  stage.ledger.answers.judge = () => statistics;
  expect(await stage.get('judge')).toMatchObject({ status: 200, body: statistics });
  await stage.get('judge?days=90&tenant=ann');
  expect(stage.ledger.questions('judge')).toEqual([
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
    stage.ledger.answers = {
      deadLetters: () => ({ letters: [letter], next: null }),
      deadLetter: () => ({ found: true, letter, message: '{}' }),
      replayDeadLetter: ({ force }) => ({
        outcome: force ? 'replayed' : 'refused',
        message: 'It breaks its contract.',
      }),
      discardDeadLetter: () => ({ outcome: 'discarded', message: 'Gone.' }),
    };
    expect(
      await stage.get('dead-letters?code=max-deliveries&subject=rl.v1.turn.paired&tenant=ann&before=c&limit=5'),
    ).toMatchObject({ status: 200, body: { letters: [letter], next: null } });
    expect(stage.ledger.questions('deadLetters')).toEqual([
      { tenant: 'ann', code: 'max-deliveries', subject: 'rl.v1.turn.paired', before: 'c', limit: 5 },
    ]);
    expect(await stage.get(`dead-letters/7/${AT}`)).toMatchObject({ status: 200, body: { letter, message: '{}' } });
    expect(await stage.post(`dead-letters/7/${AT}/replay`, {})).toMatchObject({
      status: 200,
      body: { outcome: 'refused' },
    });
    expect(await stage.post(`dead-letters/7/${AT}/replay`, { force: true })).toMatchObject({
      body: { outcome: 'replayed' },
    });
    expect(await stage.post(`dead-letters/7/${AT}/discard`, {})).toMatchObject({
      status: 200,
      body: { outcome: 'discarded' },
    });
    expect(stage.ledger.questions('replayDeadLetter')).toEqual([
      { ...id, force: false },
      { ...id, force: true },
    ]);
    expect(stage.ledger.questions('discardDeadLetter')).toEqual([id]);
  });

  it('that are none: 404', async () => {
    stage.ledger.answers.deadLetter = () => ({ found: false });
    for (const path of [`dead-letters/8/${AT}`, 'dead-letters/0/1', 'dead-letters/x/1', 'dead-letters/1/1e3'])
      expect([path, (await stage.get(path)).status, codeOf(await stage.get(path))]).toEqual([
        path,
        404,
        'dead-letter-not-found',
      ]);
    expect(codeOf(await stage.post('dead-letters/x/1/replay', {}))).toBe('dead-letter-not-found');
    expect(codeOf(await stage.post('dead-letters/x/1/discard', {}))).toBe('dead-letter-not-found');
  });

  it('a body that makes no sense: 400', async () => {
    expect(codeOf(await stage.post('dead-letters/1/1/replay', { force: 'yes' }))).toBe('invalid-request');
    expect(codeOf(await stage.post('dead-letters/1/1/discard', { really: true }))).toBe('invalid-request');
    expect(stage.ledger.asked).toEqual([]);
  });
});
