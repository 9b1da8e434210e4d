import { randomUUID } from 'node:crypto';
import { contracts, durableName, encodeLogProbs, encodeNumbers, type TrainedSample } from '@hindcast/contracts';
import { Buckets, type RunningService } from '@hindcast/platform';
import { CountKeeper } from './count-keeper';
import { query } from './testing/postgres';
import { eventually, send, storeCapture, turnDetail } from './testing/service';
import { startTestLedger, type TestLedger } from './testing/test-ledger';
import { capturedTurn, pairedTurn, scoredTurn, unhintedTurn } from './testing/turns';

let ledger: TestLedger;
let service: RunningService;

beforeAll(async () => {
  ledger = await startTestLedger();
  service = ledger.service;
}, 60_000);
afterAll(() => ledger.stop());

const ask: TestLedger['ask'] = (name, body) => ledger.ask(name, body);
const overview = (tenant: string | null = null) => ask('overview', { tenant });
const detail = (id: string, tenant: string | null = null) => turnDetail(service, id, tenant);

const trained: TrainedSample = {
  version: 4,
  advantages: encodeNumbers([0.5, -1, 2]),
  oldLogProbs: encodeLogProbs([-0.1, -0.2, -0.3]),
  newLogProbs: encodeLogProbs([-0.2, -0.1, -0.4]),
  clipEpsilonLow: 0.2,
  clipEpsilonHigh: 0.28,
};
const step = (turnId: string, version = 4) => ({
  version,
  parent: version - 1,
  state: 'published' as const,
  reason: null,
  turnIds: [turnId],
  adapter: `v${version}`,
  adapterDir: 'd',
  metrics: { grad_norm: 0.5, drift_nats: 0.25 },
});

/** A turn that its messages brought as far as the gate. */
async function decidedTurn(hinted: boolean): Promise<string> {
  const responseId = `r-${randomUUID()}`;
  const turnId = await storeCapture(service, responseId);
  await send(service, 'turnCaptured', turnId, capturedTurn({ responseId }));
  await send(service, 'turnPaired', turnId, pairedTurn({ responseId }));
  if (hinted) await send(service, 'turnScored', turnId, scoredTurn({ responseId }));
  else await send(service, 'turnUnhinted', turnId, unhintedTurn({ responseId }));
  await eventually(async () => (await detail(turnId))?.decision != null && (await detail(turnId))?.answer !== null);
  return turnId;
}

it('an empty ledger answers every question', async () => {
  const consumer = durableName('dispatcher', contracts.turnScored.subject);
  await eventually(async () => (await overview()).pending[consumer] === 0);
  const empty = await overview();
  expect(empty).toMatchObject({
    deadLetters: 0,
    policySince: null,
    status: { turns: { captured: 0 }, policyVersion: 0 },
  });
  expect(Object.values(empty.flow)).toEqual(Array(9).fill(0));
  expect(await ask('steps', { before: null, limit: 10 })).toEqual({ steps: [], next: null });
  const { versions, next } = await ask('versions', { before: null, limit: 10 });
  expect([versions, next]).toMatchObject([
    [{ version: 0, state: 'base', served: { turns: 0, meanEvalScore: null } }],
    null,
  ]);
  const today = (): string => new Date().toISOString().slice(0, 10);
  const before = today();
  const judge = await ask('judge', { tenant: null, days: 14 });
  expect(judge.days).toHaveLength(14);
  // Midnight may have passed.
  expect([before, today()]).toContain(judge.days.at(-1)!.day);
  expect(judge.days.at(-1)).toMatchObject({
    turns: 0,
    cost: null,
    latencyP50Ms: null,
  });
  expect(await ask('deadLetters', { tenant: null, code: null, subject: null, before: null, limit: 5 })).toEqual({
    letters: [],
    next: null,
  });
  expect(await detail(randomUUID())).toBeNull();
});

it('all that is known of a turn, with its tokens and what a step made of them', async () => {
  const before = await overview();
  const turnId = await decidedTurn(true);
  const decided = (await detail(turnId))!;
  expect(decided).toMatchObject({
    conversation: [{ role: 'user', text: 'hi' }],
    answer: 'hello',
    nextState: [{ text: 'thanks' }],
    turn: { state: 'decided', case: 'opdRl', request: 'hi', answer: 'hello', hasHint: true, model: 'seed' },
    decision: { case: 'opdRl', method: 'combine', policyVersion: 3, judgeModel: 'demo-judge' },
    tokens: { ids: { length: 3 }, teacher: { length: 3 } },
    feedback: null,
    trained: null,
  });
  expect(decided.votes.map(({ kind, ordinal, score }) => [kind, ordinal, score])).toEqual([
    ['eval', 0, 1],
    ['eval', 1, null],
    ['hint', 0, -1],
  ]);
  expect(await detail(decided.turn.responseId!)).toEqual(decided);
  expect(await detail(turnId, 'other')).toBeNull();
  expect(await detail(turnId, 'acme')).toEqual(decided);
  // What the trainer says of it may come before the version, and twice.
  await send(service, 'sampleTrained', turnId, trained);
  await send(service, 'sampleTrained', turnId, { ...trained, version: 5 });
  await eventually(async () => (await detail(turnId))?.trained != null);
  await send(service, 'policyUpdated', null, step(turnId));
  await eventually(async () => (await detail(turnId))?.turn.trainedIn === 4);
  expect((await detail(turnId))!.trained).toEqual(trained);
  const feedback = { reward: -1 as const, comment: 'no', correction: null, at: 5 };
  await (await service.app.get(Buckets).open('feedback')).put(`late.${turnId}`, JSON.stringify(feedback));
  expect((await detail(turnId))!.feedback).toEqual(feedback);
  const after = await overview();
  expect(after.turnsRevision).not.toBe(before.turnsRevision);
  expect((await overview('other')).turnsRevision).toBe('0');
  // An answer that is not this turn's has no tokens to be kept.
  await send(service, 'sampleTrained', randomUUID(), trained);
  await eventually(
    async () => (await overview()).pending[durableName('dispatcher', contracts.sampleTrained.subject)] === 0,
  );
  expect(await query(ledger.env.DATABASE_URL, 'SELECT FROM trained_tokens')).toHaveLength(1);
});

it('counts are those of the rows, whatever was written, and stay so when they are melted and made anew', async () => {
  const turnIds = [await decidedTurn(true), await decidedTurn(false), await decidedTurn(false)];
  await send(service, 'sampleRefused', turnIds[1]!, { reason: 'stale', detail: 'lag 5', policyVersion: 9 });
  await eventually(async () => (await detail(turnIds[1]!))?.turn.reason === 'refused:stale');
  await query(ledger.env.DATABASE_URL, `UPDATE decisions SET person = -1 WHERE "turnId" = '${turnIds[2]}'`);
  const { flow } = await overview();
  const [rows] = await query<Record<string, number>>(
    ledger.env.DATABASE_URL,
    `SELECT (SELECT count(*) FROM turns)::int AS captured, (SELECT count(*) FROM turns WHERE ending = 'paired')::int AS paired,
      (SELECT count(*) FROM decisions WHERE "teacherModel" IS NOT NULL)::int AS hinted,
      (SELECT count(*) FROM decisions WHERE "teacherModel" IS NULL AND "judgeModel" IS NOT NULL)::int AS unhinted,
      (SELECT count(*) FROM decisions WHERE "teacherModel" IS NOT NULL)::int AS scored, (SELECT count(*) FROM samples)::int AS ready,
      (SELECT count(*) FROM samples WHERE state = 'trained')::int AS trained,
      (SELECT count(*) FROM samples WHERE state = 'refused')::int AS refused,
      (SELECT count(*) FROM policy_versions WHERE state <> 'refused')::int AS published`,
  );
  expect(flow).toEqual(rows);
  const answers = async () => {
    const { pending: _pending, turnsRevision: _revision, ...books } = await overview('acme');
    const judge = [await ask('judge', { tenant: 'acme', days: 2 }), await ask('judge', { tenant: null, days: 2 })];
    return { books, judge, versions: await ask('versions', { before: null, limit: 10 }) };
  };
  const live = await answers();
  expect(live.judge[0]).toEqual(live.judge[1]);
  expect(live.judge[0]).toMatchObject({
    votes: [
      { kind: 'eval', score: 1, count: 4 },
      { kind: 'hint', score: -1, count: 4 },
    ],
    abstentions: [{ kind: 'eval', reason: 'unreadable', count: 4 }],
    agreement: { turns: 0, unanimous: 0 },
    human: [{ judge: 1, person: -1, count: 1 }],
  });
  expect(live.judge[0]!.days.at(-1)).toMatchObject({
    turns: 4,
    votes: 12,
    abstained: 4,
    meanScore: 1,
    tokens: 12 * 107,
    cost: null,
  });
  expect(live.judge[0]!.days.at(-1)!.latencyP95Ms).toBeGreaterThan(39);
  expect(live.versions.versions).toMatchObject([
    {
      version: 4,
      state: 'published',
      parent: 3,
      driftNats: 0.25,
      trainedTurns: 1,
      served: { turns: 0, meanEvalScore: null },
    },
    { version: 0, state: 'base' },
  ]);
  const keeper = service.app.get(CountKeeper);
  await Promise.all([keeper.melt(), keeper.melt(), keeper.melt()]);
  expect(await answers()).toEqual(live);
  await query(ledger.env.DATABASE_URL, 'SELECT rebuild_counts()');
  expect(await answers()).toEqual(live);
  const served = await query<{ turns: string; judged: string; score: string; hints: string }>(
    ledger.env.DATABASE_URL,
    'SELECT sum(turns) AS turns, sum(judged) AS judged, sum(score) AS score, sum(hints) AS hints FROM version_counts WHERE version = 3',
  );
  expect(served).toEqual([{ turns: '4', judged: '4', score: '4', hints: '2' }]);
});

it('steps and versions go from page to page, the base model last', async () => {
  const turnId = await decidedTurn(false);
  for (const version of [5, 6]) await send(service, 'policyUpdated', null, step(turnId, version));
  await eventually(async () => (await overview()).status.policyVersion === 6);
  expect((await overview()).policySince).toBeGreaterThan(1_700_000_000_000);
  const steps = await ask('steps', { before: null, limit: 2 });
  expect([steps.steps.map(({ version }) => version), steps.next]).toEqual([[6, 5], 5]);
  expect(await ask('steps', { before: 5, limit: 2 })).toMatchObject({
    steps: [{ version: 4, parent: 3, state: 'published', turns: 1, metrics: { grad_norm: 0.5 } }],
    next: null,
  });
  const versions = async (before: number | null) => {
    const page = await ask('versions', { before, limit: 2 });
    return [page.versions.map(({ version }) => version), page.next];
  };
  expect(await versions(null)).toEqual([[6, 5], 5]);
  expect(await versions(5)).toEqual([[4, 0], null]);
  expect(await versions(0)).toEqual([[], null]);
});
