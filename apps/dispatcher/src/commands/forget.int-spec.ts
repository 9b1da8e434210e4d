import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Buckets, Bus, sessionIdOf, userIdOf, type RunningService } from '@hindcast/platform';
import { contracts, durableName, type LedgerStatus } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { run, runJson } from '../testing/command';
import {
  SECRET,
  countOf,
  endingOf,
  markedTurn,
  person,
  placesOf,
  trainedIn,
  type Fate,
  type Person,
  type Stage,
} from '../testing/marked-turns';
import { query, startPostgres, type TestPostgres } from '../testing/postgres';
import { eventually, send, startTestDispatcher } from '../testing/service';
import { capturedTurn, pairedTurn, scoredTurn } from '../testing/turns';
import { NOTHING } from './forget-ledger';

let nats: NatsServer;
let postgres: TestPostgres;
let service: RunningService;
let env: Record<string, string>;
let folder: string;
let stage: Stage;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-forget-'));
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  env = { NATS_URL: nats.url, DATABASE_URL: await postgres.createDatabase(), DATA_DIR: folder, SESSION_SECRET: SECRET };
  service = await startTestDispatcher(env);
  stage = { service, databaseUrl: env['DATABASE_URL']!, natsUrl: nats.url, versions: 0 };
}, 60_000);
afterAll(async () => {
  await service.close();
  await Promise.all([nats.stop(), postgres.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const turnOf = (who: Person, fate: Fate) => markedTurn(stage, who, fate);
const places = (text: string) => placesOf(stage, text);
const rows = (table: string, id: string, column?: string) => countOf(stage, table, id, column);
const pending = async (name: 'sampleTrained'): Promise<number | undefined> =>
  (await service.app.get(Bus).request('overview', { tenant: null })).pending[
    durableName('dispatcher', contracts[name].subject)
  ];
const status = (): Promise<LedgerStatus> => service.app.get(Bus).request('status', { tenant: null });

interface Result {
  readonly turns: number;
  readonly rows: Record<string, number>;
  readonly broker: Record<string, number>;
  readonly spooled: number | null;
  readonly trained: {
    readonly versions: { version: number }[];
    readonly inheritedBy: number[];
    readonly atTrainer: number;
  };
  readonly before: { readonly versions: number[] }[];
}
const forget = (...args: string[]): Promise<Result> =>
  runJson<Result>(['forget', ...args, '--tenant', 'acme', '--yes'], env);
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const FATES = ['open', 'paired', 'decided', 'trained', 'dead', 'held'] as const;

test('of a session nothing is left anywhere, the books balance, and the versions trained on it are named', async () => {
  const [alice, bob] = [person('alice'), person('bob')];
  const ids: string[] = [];
  for (const fate of FATES) ids.push(await turnOf(alice, fate));
  const bobs = [await turnOf(bob, 'decided'), await turnOf(bob, 'trained')];
  await service.app.get(Bus).publish('sessionOutcome', {
    turnId: null,
    tenant: 'acme',
    id: randomUUID(),
    body: { sessionId: sessionIdOf(Buffer.from(SECRET), 'acme', 'session of alice'), reward: 1, comment: alice.marker },
  });
  await eventually(async () => (await places(alice.marker)).includes('session_outcomes'));
  const before = await places(alice.marker);
  expect(before).toEqual(
    expect.arrayContaining([
      'KV_captures',
      'KV_feedback',
      'KV_open-turns',
      'RL',
      'RL_DEAD',
      'decisions',
      'recordings',
      'turn_texts',
      'votes',
    ]),
  );
  const bobsBefore = await places(bob.marker);
  const counted = await status();

  const dry = await forget('--session', alice.session, '--dry-run');
  expect(await places(alice.marker)).toEqual(before);
  const done = await forget('--session', alice.session);
  expect(await places(alice.marker)).toEqual([]);
  expect(await places(sessionIdOf(Buffer.from(SECRET), 'acme', alice.session))).toEqual(['forgotten']);
  expect(done).toMatchObject({ turns: FATES.length, rows: dry.rows, trained: dry.trained });
  expect(done.trained.versions).toEqual([{ version: 1, state: 'published' }]);
  expect(done.trained.inheritedBy).toEqual([2]);
  expect(done.broker['openTurns']).toBe(1);

  expect(await places(bob.marker)).toEqual(bobsBefore);
  const now = await status();
  const { captured, paired, ...others } = now.turns;
  expect(captured).toBe(counted.turns.captured);
  expect(paired + total(others)).toBe(captured);
  expect(total(now.cases)).toBe(paired);
  expect(now.cases.deciding).toBe(0);
  expect(now.reasons['forgotten']).toBeGreaterThan(0);
  const steps = await query<{ known: boolean }>(
    env['DATABASE_URL']!,
    `SELECT bool_and(id IN (SELECT id FROM turns)) AS known FROM steps, unnest("turnIds") id`,
  );
  expect(steps[0]!.known).toBe(true);
  const openTurns = await (await service.app.get(Buckets).open('openTurns')).get(`turn.key-${ids[0]}`);
  expect(openTurns!.string()).toContain('another');

  // What was under way when it was forgotten decides nothing and brings nothing back.
  const late = scoredTurn({ responseId: 'late', hint: `a late hint ${alice.marker}` });
  await send(service, 'turnScored', ids[1]!, late);
  expect(await rows('trained_tokens', ids[3]!, 'turnId')).toBe(0);
  await send(service, 'sampleTrained', ids[3]!, trainedIn(1));
  const pairing = pairedTurn({ responseId: 'late', sessionId: null, answer: `a late answer ${alice.marker}` });
  await send(service, 'turnPaired', ids[0]!, pairing);
  await eventually(async () => (await endingOf(stage, ids[0]!)) === 'paired');
  await eventually(async () => (await pending('sampleTrained')) === 0);
  expect(await rows('trained_tokens', ids[3]!, 'turnId')).toBe(0);
  expect(await rows('turn_texts', ids[0]!, 'turnId')).toBe(0);
  await eventually(
    async () => (await service.app.get(Bus).request('status', { tenant: null })).turns.captured === captured,
  );
  const again = await forget('--session', alice.session);
  expect(again).toMatchObject({ broker: { messages: 2 }, before: [{ versions: [1] }] });
  expect(await places(alice.marker)).toEqual([]);
  const third = await forget('--session', alice.session);
  expect(total(third.rows) + total(third.broker)).toBe(0);
  expect(bobs).toHaveLength(2);
  const twice = await run(['forget', '--session', alice.session, '--tenant', 'acme', '--yes'], env);
  expect(twice.printed).toMatch(/Nothing is left of it\.\nPolicy versions trained on it: 1\nForgotten before/);
}, 60_000);

test('a user is found by its name or its id, and an open turn that no message has announced yet goes too', async () => {
  const carol = person('carol');
  const turnId = await turnOf(carol, 'decided');
  const unseen = randomUUID();
  const userId = userIdOf(Buffer.from(SECRET), 'acme', carol.user);
  const record = {
    turnId: unseen,
    tenant: 'acme',
    sessionId: null,
    captured: capturedTurn({ userId }),
    note: carol.marker,
  };
  await (await service.app.get(Buckets).open('openTurns')).put('turn.unseen', JSON.stringify([record]));
  await (await service.app.get(Buckets).open('captures')).put(unseen, carol.marker);
  expect((await forget('--user', userId, '--dry-run')).broker['captures']).toBe(2);
  const { turns, broker } = await forget('--user', carol.user);
  expect([turns, broker['openTurns'], broker['captures']]).toEqual([1, 1, 2]);
  expect(await places(carol.marker)).toEqual([]);
  expect(await rows('turns', turnId)).toBe(1);
}, 60_000);

test('a spool on this machine gives up what is held back of the session', async () => {
  const dave = person('dave');
  const spool = join(folder, 'spool');
  mkdirSync(spool, { recursive: true });
  const write = (name: string, sessionId: string): void => {
    const json = Buffer.from(
      JSON.stringify({ kind: 'open', key: 'k', turn: { turnId: randomUUID(), tenant: 'acme', sessionId } }),
    );
    const head = Buffer.alloc(8);
    head.writeUInt32LE(0x31504f48, 0);
    head.writeUInt32LE(json.length, 4);
    writeFileSync(join(spool, name), Buffer.concat([head, json, Buffer.from('capture')]));
  };
  write('1.operation', sessionIdOf(Buffer.from(SECRET), 'acme', dave.session));
  write('2.operation', 'e'.repeat(32));
  expect((await forget('--session', dave.session)).spooled).toBe(1);
  expect([existsSync(join(spool, '1.operation')), existsSync(join(spool, '2.operation'))]).toEqual([false, true]);
});

test('what is named wrongly, or needs what is away, is said in a line and changes nothing', async () => {
  const erin = person('erin');
  const turnId = await turnOf(erin, 'decided');
  const before = await places(erin.marker);
  const tried = async (...args: string[]) => run(['forget', ...args], env, false);
  expect(await tried()).toMatchObject({ code: 2, said: 'name one of --session, --user, --turn, or a whole --tenant' });
  expect(await tried('--session', 'a', '--user', 'b')).toMatchObject({ code: 2 });
  expect(await tried('--turn', 'x')).toMatchObject({ code: 2, said: '--turn x is not the id of a turn' });
  expect(await tried('--turn', turnId, '--tenant', 'other')).toMatchObject({
    code: 1,
    said: 'tenant other has no such turn',
  });
  expect(await tried('--session', erin.session, '--tenant', 'acme')).toMatchObject({
    code: 1,
    said: expect.stringContaining('Delete 1 turn of this session for good?'),
  });
  const away = await run(['forget', '--turn', turnId, '--yes'], { ...env, NATS_URL: 'nats://127.0.0.1:1' });
  expect(away).toMatchObject({ code: 1, said: expect.stringContaining('does not answer') });
  const { SESSION_SECRET: _, ...keyless } = env;
  expect((await run(['forget', '--session', 'raw', '--yes'], keyless)).said).toContain('set SESSION_SECRET');
  expect(await places(erin.marker)).toEqual(before);
});

test('a whole tenant goes, turns that nobody claimed included, and another one stays', async () => {
  const frank = person('frank');
  const frankly = await turnOf(frank, 'trained');
  const other = randomUUID();
  const theirs = capturedTurn({ responseId: 'MARKER-other' });
  await service.app.get(Bus).publish('turnCaptured', { turnId: other, tenant: 'other', body: theirs });
  await eventually(async () => (await rows('turns', other)) === 1);
  expect((await places('MARKER-')).length).toBeGreaterThan(3);
  const done = await forget();
  expect(done.trained.versions.map(({ version }) => version)).toContain(stage.versions);
  expect(await places('MARKER-')).toEqual(['RL', 'turns']);
  expect(await places('MARKER-frank')).toEqual([]);
  expect([await rows('turns', frankly), await rows('turns', other)]).toEqual([1, 1]);
  expect(await forget()).toMatchObject({ rows: NOTHING, before: [{ versions: expect.any(Array) as number[] }] });
  const { turns, cases } = await status();
  const { captured, paired, ...others } = turns;
  expect(paired + total(others)).toBe(captured);
  expect(total(cases)).toBe(paired);
}, 60_000);
