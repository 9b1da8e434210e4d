import { randomBytes } from 'node:crypto';
import { Bus, type RunningService } from '@hindcast/platform';
import type { TurnStory } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { Sessions } from './sessions';
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

const newSession = (): string => randomBytes(8).toString('hex');
const status = () => service.app.get(Bus).request('status', { tenant: null });
async function story(turnId: string): Promise<TurnStory | null> {
  const answer = await service.app.get(Bus).request('turn', { tenant: 'acme', id: turnId });
  return answer.found ? answer.turn : null;
}
const stateOf = async (turnId: string) => (await story(turnId))?.state ?? null;

/** A turn of the session as the gateway tells of it. */
async function paired(sessionId: string, over = {}): Promise<string> {
  const responseId = `r-${newSession()}`;
  const turnId = await storeCapture(service, responseId);
  const ids = { responseId, sessionId, outcomePending: true, ...over };
  await send(service, 'turnCaptured', turnId, capturedTurn(ids));
  await send(service, 'turnPaired', turnId, pairedTurn(ids));
  await eventually(async () => (await stateOf(turnId)) === 'paired');
  return turnId;
}
const judge = (turnId: string, sessionId: string, evalScore: -1 | 0 | 1) =>
  send(
    service,
    'turnUnhinted',
    turnId,
    unhintedTurn({ responseId: turnId, sessionId, evalScore, outcomePending: true }),
  );
const end = (sessionId: string, reward: number) =>
  send(service, 'sessionOutcome', null, { sessionId, reward, comment: null });

test('turns wait for the outcome of their session, and are decided together with it', async () => {
  const sessionId = newSession();
  const turns = [await paired(sessionId), await paired(sessionId)];
  await judge(turns[0]!, sessionId, 1);
  await judge(turns[1]!, sessionId, 0);
  await eventually(async () => (await Promise.all(turns.map(stateOf))).every((state) => state === 'judged'));
  const { cases, turns: books } = await status();
  expect(cases.deciding).toBe(2);
  const metrics = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  expect(metrics).toMatch(/hindcast_ledger_held_turns\{app="dispatcher"\} 2/);
  expect(Object.values(cases).reduce((sum, count) => sum + count, 0)).toBe(books.paired);

  await end(sessionId, -1);
  await eventually(async () => (await Promise.all(turns.map(stateOf))).every((state) => state === 'decided'));
  // −1 + 1 · (1 + 0)/2
  for (const turnId of turns)
    expect(await story(turnId)).toMatchObject({ case: 'rl', reward: -0.5, rewardSource: 'outcome' });
  await eventually(async () => {
    const samples = await published(nats.url, 'sampleReady');
    return turns.every((turnId) => samples.some((sample) => sample.turnId === turnId && sample.body.reward === -0.5));
  });
  expect(await query(databaseUrl, 'SELECT * FROM held_turns')).toEqual([]);
});

test('an outcome that comes before anything else is kept; nothing is decided before the last judgement', async () => {
  const sessionId = newSession();
  await end(sessionId, 1);
  const turns = [await paired(sessionId), await paired(sessionId), await paired(sessionId)];
  await judge(turns[1]!, sessionId, -1);
  await eventually(async () => (await stateOf(turns[1]!)) === 'judged');
  await judge(turns[0]!, sessionId, 1);
  await eventually(async () => (await stateOf(turns[0]!)) === 'judged');
  // The third completes the session.
  const last = turns[2]!;
  await send(
    service,
    'turnScored',
    last,
    scoredTurn({ responseId: last, sessionId, evalScore: 1, outcomePending: true }),
  );
  await eventually(async () => (await Promise.all(turns.map(stateOf))).every((state) => state === 'decided'));
  const stories = await Promise.all(turns.map(story));
  expect(stories.map((one) => [one!.case, one!.evalScore])).toEqual([
    ['rl', 1],
    ['rl', -1],
    ['opdRl', 1],
  ]);
  for (const one of stories) expect(one!.reward).toBeCloseTo(1 + 1 / 3, 12);
});

test('a turn that ended unpaired is not waited for', async () => {
  const sessionId = newSession();
  const turnId = await paired(sessionId);
  const open = await storeCapture(service, 'r-open');
  await send(service, 'turnCaptured', open, capturedTurn({ responseId: 'r-open', sessionId, outcomePending: true }));
  await eventually(async () => (await stateOf(open)) === 'open');
  await end(sessionId, 0.25);
  await judge(turnId, sessionId, 0);
  await eventually(async () => (await stateOf(turnId)) === 'judged');
  await send(service, 'turnClosed', open, { reason: 'expired', detail: null });
  await eventually(async () => (await stateOf(turnId)) === 'decided');
  expect((await story(turnId))!.reward).toBe(0.25);
});

test('the first outcome counts; a later one is recorded as late, the same message again is not', async () => {
  const sessionId = newSession();
  const message = { v: 1, turnId: null, tenant: 'acme', at: 1_000, body: { sessionId, reward: 1, comment: 'done' } };
  for (const id of ['a', 'b']) await service.app.get(Bus).store('rl.v1.session.outcome', id, JSON.stringify(message));
  await end(sessionId, -1);
  const row = async () =>
    (
      await query<{ reward: number; late: number }>(
        databaseUrl,
        `SELECT reward, late FROM session_outcomes WHERE "sessionId" = '${sessionId}'`,
      )
    )[0];
  await eventually(async () => (await row())?.late === 1);
  expect(await row()).toEqual({ reward: 1, late: 1 });
});

test('a turn whose outcome never comes is decided by its own score, and says so', async () => {
  const sessionId = newSession();
  const turnId = await paired(sessionId);
  await judge(turnId, sessionId, 1);
  await eventually(async () => (await stateOf(turnId)) === 'judged');
  await query(databaseUrl, `UPDATE held_turns SET "expiresAt" = now() WHERE "turnId" = '${turnId}'`);
  await eventually(async () => (await stateOf(turnId)) === 'decided');
  expect(await story(turnId)).toMatchObject({
    case: 'rl',
    reward: 1,
    reason: 'outcome-expired',
    rewardSource: 'votes',
  });
});

test('what a crash left between outcome and decision is found', async () => {
  const sessionId = newSession();
  const turnId = await paired(sessionId);
  await judge(turnId, sessionId, 1);
  await eventually(async () => (await stateOf(turnId)) === 'judged');
  await query(
    databaseUrl,
    `INSERT INTO session_outcomes (tenant, "sessionId", reward) VALUES ('acme', '${sessionId}', -1)`,
  );
  await eventually(async () => (await stateOf(turnId)) === 'decided');
  // −1 + 1 · 1
  expect(await story(turnId)).toMatchObject({ case: 'drop', reason: 'no-signal', rewardSource: 'outcome' });
});

test('a turn that waits for an outcome but has no session has nothing to wait for', async () => {
  const turnId = await storeCapture(service, 'r-alone');
  const ids = { responseId: 'r-alone', sessionId: null, outcomePending: true };
  await send(service, 'turnUnhinted', turnId, unhintedTurn({ ...ids, evalScore: -1 }));
  await eventually(async () => (await stateOf(turnId)) === 'decided');
  expect(await story(turnId)).toMatchObject({ case: 'rl', reward: -1, reason: null });
});

test('a session that cannot be settled keeps no other one waiting', async () => {
  const [broken, sound] = [newSession(), newSession()];
  const turnId = await paired(sound);
  await judge(turnId, sound, 1);
  await eventually(async () => (await stateOf(turnId)) === 'judged');
  await query(
    databaseUrl,
    `INSERT INTO held_turns ("turnId", tenant, "sessionId", judged, "expiresAt")
      VALUES ('${broken}', 'acme', '${broken}', 'no judgement', '2026-01-01')`,
  );
  await query(databaseUrl, `UPDATE held_turns SET "expiresAt" = '2026-01-02' WHERE "turnId" = '${turnId}'`);
  await eventually(async () => (await stateOf(turnId)) === 'decided');
  expect(await story(turnId)).toMatchObject({ case: 'rl', reward: 1, reason: 'outcome-expired' });
  await query(databaseUrl, `DELETE FROM held_turns WHERE "turnId" = '${broken}'`);
});

test('of two outcomes that are on their way at once, the one that was sent first counts', async () => {
  const sessions = Array.from({ length: 40 }, newSession);
  // Each pair is one right behind the other in the stream, as a client sends them that has changed its mind.
  for (const sessionId of sessions) {
    await end(sessionId, 0.37);
    await end(sessionId, -1);
  }
  const stored = () =>
    query<{ reward: number; late: number }>(
      databaseUrl,
      `SELECT reward, late FROM session_outcomes WHERE "sessionId" = ANY('{${sessions.join(',')}}')`,
    );
  await eventually(async () => (await stored()).filter(({ late }) => late === 1).length === sessions.length);
  expect((await stored()).map(({ reward }) => reward)).toEqual(sessions.map(() => 0.37));
});

const outcomeOf = async (sessionId: string) =>
  (
    await query<{ reward: number; comment: string | null; late: number }>(
      databaseUrl,
      `SELECT reward, comment, late FROM session_outcomes WHERE "sessionId" = '${sessionId}'`,
    )
  )[0];

test.each([
  { why: 'by the time they were sent', first: { at: 1_000, sequence: 9 }, second: { at: 2_000, sequence: 8 } },
  {
    why: 'sent in one millisecond, by the stream',
    first: { at: 1_000, sequence: 8 },
    second: { at: 1_000, sequence: 9 },
  },
])('of two outcomes the first one counts, whichever comes first: $why', async ({ first, second }) => {
  const sessions = service.app.get(Sessions);
  const add = (sessionId: string, reward: number, { at, sequence }: typeof first) =>
    sessions.addOutcome('acme', sessionId, { reward, comment: `${reward}`, at: new Date(at), sequence });
  const [inOrder, swapped] = [newSession(), newSession()];
  expect([await add(inOrder, 0.37, first), await add(inOrder, -1, second)]).toEqual(['first', 'late']);
  expect([await add(swapped, -1, second), await add(swapped, 0.37, first)]).toEqual(['first', 'earlier']);
  for (const sessionId of [inOrder, swapped]) {
    expect(await outcomeOf(sessionId)).toEqual({ reward: 0.37, comment: '0.37', late: 1 });
    expect(await add(sessionId, 0.37, first)).toBe('again');
  }
});

test('an outcome that was sent first comes too late once a turn is decided by another', async () => {
  const sessionId = newSession();
  const turns = [await paired(sessionId), await paired(sessionId)];
  const tell = (at: number, reward: number) => {
    const message = { v: 1, turnId: null, tenant: 'acme', at, body: { sessionId, reward, comment: null } };
    return service.app.get(Bus).store('rl.v1.session.outcome', newSession(), JSON.stringify(message));
  };
  await tell(3_000, 1);
  await eventually(async () => (await outcomeOf(sessionId))?.reward === 1);
  await judge(turns[0]!, sessionId, 0);
  await eventually(async () => (await stateOf(turns[0]!)) === 'judged');
  // Nothing is decided by the other one yet.
  await tell(2_000, -1);
  await eventually(async () => (await outcomeOf(sessionId))?.reward === -1);
  await query(databaseUrl, `UPDATE held_turns SET "expiresAt" = now() WHERE "turnId" = '${turns[0]}'`);
  await eventually(async () => (await stateOf(turns[0]!)) === 'decided');
  await tell(1_000, 0.5);
  await eventually(async () => (await outcomeOf(sessionId))?.late === 2);
  await judge(turns[1]!, sessionId, 0);
  await eventually(async () => (await stateOf(turns[1]!)) === 'decided');
  expect((await Promise.all(turns.map(story))).map((one) => one!.reward)).toEqual([-1, -1]);
});

test('a step that a person gave 0 is in the mean, before it is decided and after', async () => {
  const sessionId = newSession();
  const turns = [await paired(sessionId), await paired(sessionId)];
  await end(sessionId, -1);
  const word = { evalScore: 0, evalVotes: [], rewardSource: 'feedback', outcomePending: true } as const;
  await send(
    service,
    'turnUnhinted',
    turns[0]!,
    unhintedTurn({ responseId: turns[0]!, sessionId, ...word, evalVotes: [] }),
  );
  await eventually(async () => (await stateOf(turns[0]!)) === 'judged');
  await query(databaseUrl, `UPDATE held_turns SET "expiresAt" = now() WHERE "turnId" = '${turns[0]}'`);
  await eventually(async () => (await stateOf(turns[0]!)) === 'decided');
  await judge(turns[1]!, sessionId, 1);
  await eventually(async () => (await stateOf(turns[1]!)) === 'decided');
  // −1 + 0, then −1 + (0 + 1)/2
  expect((await Promise.all(turns.map(story))).map((one) => one!.reward)).toEqual([-1, -0.5]);
});
