import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Buckets, Bus, sessionIdOf, userIdOf, type RunningService } from '@hindcast/platform';
import {
  contracts,
  deadSubject,
  durableName,
  encodeCapture,
  encodeLogProbs,
  encodeNumbers,
  encodeTopK,
  messageSchema,
  type LedgerStatus,
  type TrainedSample,
} from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { run, runJson } from '../testing/command';
import { withTexts } from '../testing/ledger-rows';
import { query, startPostgres, type TestPostgres } from '../testing/postgres';
import { published, send, startTestDispatcher, until } from '../testing/service';
import { capture, capturedTurn, pairedTurn, scoredTurn, unhintedTurn } from '../testing/turns';
import { NOTHING } from './forget-ledger';

const SECRET = 'a secret of all gateways';

let nats: NatsServer;
let postgres: TestPostgres;
let service: RunningService;
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-forget-'));
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  env = { NATS_URL: nats.url, DATABASE_URL: await postgres.createDatabase(), DATA_DIR: folder, SESSION_SECRET: SECRET };
  service = await startTestDispatcher(env);
}, 60_000);
afterAll(async () => {
  await service.close();
  await Promise.all([nats.stop(), postgres.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Person {
  readonly session: string;
  readonly user: string;
  /** Stands in every text of this person, and nowhere else. */
  readonly marker: string;
}
const person = (name: string): Person => ({
  session: `session of ${name}`,
  user: `user ${name}`,
  marker: `MARKER-${name}-${randomUUID()}`,
});

type Fate = 'open' | 'paired' | 'decided' | 'trained' | 'dead' | 'held';

/** A turn of the person that has come so far, with the marker in everything that can hold a text. */
async function turnOf({ session, user, marker }: Person, fate: Fate): Promise<string> {
  const turnId = randomUUID();
  const ids = { responseId: `${marker}-${turnId}`, sessionId: sessionIdOf(Buffer.from(SECRET), 'acme', session) };
  const userId = userIdOf(Buffer.from(SECRET), 'acme', user);
  const buckets = service.app.get(Buckets);
  const put = async (name: 'captures' | 'feedback' | 'topK' | 'openTurns', key: string, value: string | Uint8Array) =>
    (await buckets.open(name)).put(key, value);
  const held = withTexts(capture(turnId, ids.responseId), marker);
  await put('captures', turnId, encodeCapture(held));
  await put('feedback', `late.${turnId}`, JSON.stringify({ reward: 1, comment: marker, correction: null, at: 1 }));
  await put('topK', turnId, encodeTopK({ k: 1, ids: Int32Array.of(1), logProbs: Float32Array.of(-1) }));
  const outcomePending = fate === 'held';
  const captured = capturedTurn({ ...ids, userId, outcomePending });
  await send(service, 'turnCaptured', turnId, captured);
  if (fate === 'open') {
    const record = {
      turnId,
      tenant: 'acme',
      sessionId: ids.sessionId,
      captured,
      announced: true,
      ending: null,
      note: marker,
    };
    const foreign = {
      ...record,
      turnId: randomUUID(),
      sessionId: 'f'.repeat(32),
      captured: capturedTurn(),
      note: 'another',
    };
    await put('openTurns', `turn.key-${turnId}`, JSON.stringify([foreign, record]));
    await put('openTurns', `session.${ids.sessionId}`, JSON.stringify([{ turnId, key: marker }]));
    await until(async () => (await rows('turns', turnId)) === 1);
    return turnId;
  }
  await send(service, 'turnPaired', turnId, pairedTurn({ ...ids, answer: marker, outcomePending }));
  await until(async () => (await endings(turnId)) === 'paired');
  if (fate === 'paired') return turnId;
  const vote = {
    score: 1 as const,
    abstained: null,
    latencyMs: 1,
    promptTokens: 1,
    completionTokens: 1,
    cost: null,
    promptVersion: '1',
    raw: marker,
  };
  const judged = { ...ids, evalVotes: [vote], hintVotes: [{ ...vote, hint: marker }], outcomePending };
  const scored = scoredTurn({ ...judged, hint: marker });
  if (fate === 'held') {
    await send(service, 'turnUnhinted', turnId, unhintedTurn(judged));
    await until(async () => (await rows('held_turns', turnId, 'turnId')) === 1);
    return turnId;
  }
  if (fate === 'dead') {
    await bury(turnId, scored, marker);
    await until(async () => (await rows('decisions', turnId, 'turnId')) === 1);
    return turnId;
  }
  await send(service, 'turnScored', turnId, scored);
  await until(async () => (await published(nats.url, 'sampleReady')).some((sample) => sample.turnId === turnId));
  if (fate === 'trained') {
    const [version, parent] = [++versions, versions - 1];
    const step = {
      version,
      parent,
      state: 'published' as const,
      reason: null,
      turnIds: [turnId],
      adapter: 'a',
      adapterDir: 'd',
      metrics: {},
    };
    await send(service, 'policyUpdated', null, step);
    await until(
      async () =>
        (await query<{ v: number }>(env['DATABASE_URL']!, `SELECT "trainedIn" v FROM turns WHERE id = '${turnId}'`))[0]!
          .v === version,
    );
    await send(service, 'sampleTrained', turnId, trainedIn(version));
    await until(async () => (await rows('trained_tokens', turnId, 'turnId')) === 1);
  }
  return turnId;
}
let versions = 0;
const trainedIn = (version: number): TrainedSample => ({
  version,
  advantages: encodeNumbers([1, 2, 3]),
  oldLogProbs: encodeLogProbs([-1, -1, -1]),
  newLogProbs: null,
  clipEpsilonLow: 0.2,
  clipEpsilonHigh: 0.28,
});

async function bury(turnId: string, body: unknown, marker: string): Promise<void> {
  const { subject } = contracts.turnScored;
  const message = { v: 1, turnId, tenant: 'acme', at: 1, body };
  const letter = {
    subject,
    consumer: durableName('dispatcher', subject),
    code: 'handler-failed',
    error: marker,
    deliveries: 3,
    messageId: null,
    payload: Buffer.from(JSON.stringify(message)).toString('base64'),
  };
  const envelope = messageSchema('dead').parse({ v: 1, turnId, tenant: 'acme', at: 1, body: letter });
  await service.app.get(Bus).store(deadSubject(subject), randomUUID(), JSON.stringify(envelope));
}

const rows = async (table: string, id: string, column = 'id'): Promise<number> =>
  Number(
    (
      await query<{ count: string }>(env['DATABASE_URL']!, `SELECT count(*) FROM ${table} WHERE "${column}" = '${id}'`)
    )[0]!.count,
  );
const endings = async (id: string): Promise<string | undefined> =>
  (await query<{ ending: string }>(env['DATABASE_URL']!, `SELECT ending FROM turns WHERE id = '${id}'`))[0]?.ending;
const pending = async (name: 'sampleTrained'): Promise<number | undefined> =>
  (await service.app.get(Bus).request('overview', { tenant: null })).pending[
    durableName('dispatcher', contracts[name].subject)
  ];
const status = (): Promise<LedgerStatus> => service.app.get(Bus).request('status', { tenant: null });

/** Where a text stands: in any row of any table, in any message of any stream, its bytes as they are or as base64. */
async function places(text: string): Promise<string[]> {
  const found: string[] = [];
  const url = env['DATABASE_URL']!;
  const tables = await query<{ name: string }>(
    url,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  const hex = Buffer.from(text).toString('hex');
  for (const { name } of tables) {
    const [{ count }] = (await query<{ count: string }>(
      url,
      `SELECT count(*) FROM ${name} t WHERE t::text LIKE '%${text}%' OR t::text LIKE '%${hex}%'`,
    )) as [{ count: string }];
    if (Number(count) > 0) found.push(name);
  }
  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  for await (const { config, state } of manager.streams.list())
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
      const message = await manager.streams.getMessage(config.name, { seq });
      if (!message) continue;
      const raw = Buffer.from(message.data).toString('latin1');
      const payload = /"payload":"([^"]*)"/.exec(raw)?.[1] ?? '';
      if (`${message.subject} ${raw} ${Buffer.from(payload, 'base64').toString('latin1')}`.includes(text))
        found.push(config.name);
    }
  await connection.close();
  return [...new Set(found)].sort();
}

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
  await until(async () => (await places(alice.marker)).includes('session_outcomes'));
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
  await until(async () => (await endings(ids[0]!)) === 'paired');
  await until(async () => (await pending('sampleTrained')) === 0);
  expect(await rows('trained_tokens', ids[3]!, 'turnId')).toBe(0);
  expect(await rows('turn_texts', ids[0]!, 'turnId')).toBe(0);
  await until(async () => (await service.app.get(Bus).request('status', { tenant: null })).turns.captured === captured);
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
    said: expect.stringContaining('Delete 1 turns of this session for good?'),
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
  await until(async () => (await rows('turns', other)) === 1);
  expect((await places('MARKER-')).length).toBeGreaterThan(3);
  const done = await forget();
  expect(done.trained.versions.map(({ version }) => version)).toContain(versions);
  expect(await places('MARKER-')).toEqual(['RL', 'turns']);
  expect(await places('MARKER-frank')).toEqual([]);
  expect([await rows('turns', frankly), await rows('turns', other)]).toEqual([1, 1]);
  expect(await forget()).toMatchObject({ rows: NOTHING, before: [{ versions: expect.any(Array) as number[] }] });
  const { turns, cases } = await status();
  const { captured, paired, ...others } = turns;
  expect(paired + total(others)).toBe(captured);
  expect(total(cases)).toBe(paired);
}, 60_000);
