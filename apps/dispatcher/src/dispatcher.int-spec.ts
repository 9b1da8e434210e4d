import { Bus, Buckets, type RunningService } from '@hindcast/platform';
import { Sample, contracts, durableName, type LedgerStatus, type TurnStory } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, published, send, startTestDispatcher, storeCapture } from './testing/service';
import { capturedTurn, pairedTurn, scoredTurn, unhintedTurn } from './testing/turns';

let nats: NatsServer;
let postgres: TestPostgres;
let databaseUrl: string;
let service: RunningService;

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  databaseUrl = await postgres.createDatabase();
  service = await startTestDispatcher({ NATS_URL: nats.url, DATABASE_URL: databaseUrl });
});
afterAll(async () => {
  await service.close();
  await Promise.all([nats.stop(), postgres.stop()]);
});

function bus(): Bus {
  return service.app.get(Bus);
}
async function story(id: string, tenant = 'acme'): Promise<TurnStory | null> {
  const answer = await bus().request('turn', { tenant, id });
  return answer.found ? answer.turn : null;
}
const status = (tenant: string | null = null): Promise<LedgerStatus> => bus().request('status', { tenant });
const isDecided = async (id: string): Promise<boolean> => (await story(id))?.case != null;

function expectBalanced({ turns, cases }: LedgerStatus): void {
  const { captured, paired, ...others } = turns;
  expect(paired + Object.values(others).reduce((sum, count) => sum + count, 0)).toBe(captured);
  expect(Object.values(cases).reduce((sum, count) => sum + count, 0)).toBe(paired);
}

test('a turn from its capture to the version that was trained on it', async () => {
  const turnId = await storeCapture(service, 'r-1');
  await send(service, 'turnCaptured', turnId, capturedTurn({ responseId: 'r-1' }));
  await eventually(async () => (await story(turnId))?.state === 'open');
  await send(service, 'turnPaired', turnId, pairedTurn({ responseId: 'r-1' }));
  await eventually(async () => (await story('r-1'))?.state === 'paired');
  await send(service, 'turnScored', turnId, scoredTurn({ responseId: 'r-1', evalScore: -1 }));
  await eventually(() => isDecided(turnId));
  expect(await story('r-1')).toEqual({
    turnId,
    responseId: 'r-1',
    state: 'decided',
    case: 'opdRl',
    reason: null,
    policyVersion: 3,
    evalScore: -1,
    reward: -1,
    rewardSource: 'votes',
    hint: 'Answer in one sentence.',
    trainedIn: null,
  });
  await eventually(async () => (await published(nats.url, 'sampleReady')).some((message) => message.turnId === turnId));
  const message = (await published(nats.url, 'sampleReady')).find((sent) => sent.turnId === turnId)!;
  expect(message.tenant).toBe('acme');
  expect(Sample.parse(message.body)).toMatchObject({
    case: 'opdRl',
    reward: -1,
    method: 'combine',
    teacherModel: 'seed',
  });
  expect((await status()).waitingSamples).toBe(1);

  const step = {
    version: 4,
    parent: 3,
    state: 'published' as const,
    reason: null,
    turnIds: [turnId],
    adapter: 'a',
    adapterDir: 'd',
    metrics: { grad_norm: 0.5 },
  };
  await send(service, 'policyUpdated', null, step);
  await send(service, 'policyUpdated', null, step);
  await eventually(async () => (await story(turnId))?.state === 'trained');
  expect((await story(turnId))?.trainedIn).toBe(4);
  expect(await status()).toMatchObject({
    samplesTrained: 1,
    waitingSamples: 0,
    steps: 1,
    versionsPublished: 1,
    policyVersion: 4,
  });
  const [outbox] = await query<{ body: unknown }>(databaseUrl, `SELECT body FROM outbox WHERE "turnId" = '${turnId}'`);
  expect(outbox?.body).toBeNull();
  await send(service, 'policyUpdated', null, { ...step, state: 'rolled-back', reason: 'rolled back to version 3' });
  await eventually(async () => (await status()).versionsPublished === 0);
  // Messages may come in any order.
  await send(service, 'policyUpdated', null, step);
  await send(service, 'policyUpdated', null, { ...step, version: 5, parent: 3, turnIds: [turnId] });
  await eventually(async () => (await status()).policyVersion === 5);
  expect(await query(databaseUrl, 'SELECT version, state, reason FROM policy_versions ORDER BY version')).toEqual([
    { version: 4, state: 'rolled-back', reason: 'rolled back to version 3' },
    { version: 5, state: 'published', reason: null },
  ]);
  const votes = await query<{ raw: string }>(
    databaseUrl,
    `SELECT raw FROM votes WHERE "turnId" = '${turnId}' ORDER BY kind, ordinal`,
  );
  expect(votes.map((vote) => vote.raw)).toContain('half a surrogate \ufffd and a NUL \ufffd');
});

test("a turn is nobody else's to see", async () => {
  const turnId = await storeCapture(service, 'r-own');
  await send(service, 'turnCaptured', turnId, capturedTurn({ responseId: 'r-own' }));
  await eventually(async () => (await story('r-own')) !== null);
  expect(await story(turnId, 'other')).toBeNull();
  expect(await story('r-own', 'other')).toBeNull();
  expect((await status('other')).turns.captured).toBe(0);
});

test('an id with a NUL or half a surrogate pair is as good as any other, in a message and in a question', async () => {
  const turnId = await storeCapture(service, 'r-\0-\ud800');
  await send(service, 'turnCaptured', turnId, capturedTurn({ responseId: 'r-\0-\ud800' }));
  await eventually(async () => (await story('r-\0-\ud800')) !== null);
  expect(await story('\0')).toBeNull();
  expect(await story('\udc00')).toBeNull();
});

test('D73: everything twice, the judgement first and a different one later: one decision, one sample', async () => {
  const turnId = await storeCapture(service, 'r-2');
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId: 'r-2', evalScore: 1 }));
  await eventually(() => isDecided(turnId));
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId: 'r-2', evalScore: 1 }));
  await send(service, 'turnScored', turnId, scoredTurn({ responseId: 'r-2', evalScore: -1 }));
  for (let round = 0; round < 2; round++) {
    await send(service, 'turnPaired', turnId, pairedTurn({ responseId: 'r-2' }));
    await send(service, 'turnCaptured', turnId, capturedTurn({ responseId: 'r-2' }));
  }
  await settled();
  expect(await story(turnId)).toMatchObject({ case: 'rl', evalScore: 1, hint: null });
  const samples = (await published(nats.url, 'sampleReady')).filter((message) => message.turnId === turnId);
  expect(samples).toHaveLength(1);
  expect(await query(databaseUrl, `SELECT 1 FROM decisions WHERE "turnId" = '${turnId}'`)).toHaveLength(1);
  expectBalanced(await status());
});

test('feedback outweighs the votes', async () => {
  const turnId = await storeCapture(service, 'r-3');
  const bucket = await service.app.get(Buckets).open('feedback');
  await bucket.put(turnId, JSON.stringify({ reward: -1, comment: null, correction: null, at: 1 }));
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId: 'r-3', evalScore: 1 }));
  await eventually(() => isDecided(turnId));
  expect(await story(turnId)).toMatchObject({ case: 'rl', evalScore: -1 });
});

test('staleness is measured against the version that serves', async () => {
  const bucket = await service.app.get(Buckets).open('policy');
  await bucket.put('current', JSON.stringify({ version: 8, adapter: 'a', engines: [], at: 1 }));
  const turnId = await storeCapture(service, 'r-4');
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId: 'r-4', evalScore: 1, policyVersion: 3 }));
  await eventually(() => isDecided(turnId));
  await bucket.delete('current');
  expect(await story(turnId)).toMatchObject({ case: 'drop', reason: 'stale' });
});

test('a sample that the trainer refuses becomes a drop with its reason', async () => {
  const turnId = await storeCapture(service, 'r-5');
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId: 'r-5', evalScore: 1 }));
  await eventually(() => isDecided(turnId));
  await send(service, 'sampleRefused', turnId, { reason: 'stale', detail: 'lag 5', policyVersion: 9 });
  await eventually(async () => (await story(turnId))?.case === 'drop');
  expect(await story(turnId)).toMatchObject({ reason: 'refused:stale', trainedIn: null });
  expect((await status()).reasons['refused:stale']).toBe(1);
});

test('a judged turn that no schema takes dies, and its turn is dropped with the reason', async () => {
  const turnId = await storeCapture(service, 'r-6');
  await send(service, 'turnPaired', turnId, pairedTurn({ responseId: 'r-6' }));
  const broken = { v: 1, turnId, tenant: 'acme', at: 1, body: { evalScore: null } };
  await bus().store(contracts.turnUnhinted.subject, `judged.${turnId}`, JSON.stringify(broken));
  await eventually(() => isDecided(turnId));
  expect(await story(turnId)).toMatchObject({ case: 'drop', reason: 'dead-letter:contract-violation' });
  expect(await query(databaseUrl, `SELECT code FROM dead_letters WHERE "turnId" = '${turnId}'`)).toHaveLength(1);
});

test('no capture, no sample', async () => {
  const turnId = 'ffffffff-0000-4000-8000-000000000001';
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId: 'r-7', evalScore: 1 }));
  await eventually(() => isDecided(turnId));
  expect(await story(turnId)).toMatchObject({ case: 'drop', reason: 'capture-missing' });
});

test('the ledger shows on /readyz and /metrics', async () => {
  const base = `http://127.0.0.1:${service.port}`;
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
  const metrics = await (await fetch(`${base}/metrics`)).text();
  expect(metrics).toMatch(/hindcast_ledger_cases\{case="rl",app="dispatcher"\} [1-9]/);
  expect(metrics).toContain('hindcast_ledger_up{app="dispatcher"} 1');
  expectBalanced(await status());
});

test('D5: /metrics tells by version whether the answers get better', async () => {
  for (const [policyVersion, evalScores] of [
    [50, [1, 1, -1, 0]],
    [51, [1]],
  ] as const) {
    for (const [index, evalScore] of evalScores.entries()) {
      const responseId = `r-d5-${policyVersion}-${index}`;
      const turnId = await storeCapture(service, responseId);
      await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId, evalScore, policyVersion }));
      await eventually(() => isDecided(turnId));
    }
  }
  const turnId = await storeCapture(service, 'r-d5-hinted');
  await send(
    service,
    'turnScored',
    turnId,
    scoredTurn({ responseId: 'r-d5-hinted', evalScore: -1, policyVersion: 51 }),
  );
  await eventually(() => isDecided(turnId));
  const metrics = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  const value = (name: string, version: number): number =>
    Number(new RegExp(`hindcast_ledger_version_${name}\\{version="${version}",.*\\} (\\S+)`).exec(metrics)![1]);
  expect([value('turns', 50), value('eval_score', 50), value('hint_rate', 50)]).toEqual([4, 0.25, 0]);
  expect([value('turns', 51), value('eval_score', 51), value('hint_rate', 51)]).toEqual([2, 0, 0.5]);
});

/** Nothing waits for the dispatcher, and nothing for the bus. */
async function settled(): Promise<void> {
  await eventually(async () => {
    const { pending } = await bus().request('overview', { tenant: null });
    return Object.values(contracts)
      .filter(({ handlers }) => (handlers as readonly string[]).includes('dispatcher'))
      .every(({ subject }) => pending[durableName('dispatcher', subject)] === 0);
  });
  await eventually(async () => (await query(databaseUrl, 'SELECT 1 FROM outbox WHERE "sentAt" IS NULL')).length === 0);
}
