import { randomUUID } from 'node:crypto';
import { DependencyUnavailable, type LedgerStatus } from '@hindcast/contracts';
import { Log } from '@hindcast/platform';
import { Client } from 'pg';
import type { BusLag } from './bus-lag';
import { readConfig } from './config';
import { applied, type Turn, type TurnEvent } from './core/turn';
import { Database } from './database';
import { Ledger } from './ledger';
import { LedgerOverviewReader } from './ledger-overview';
import { LedgerWriter, type TurnChange } from './ledger-writer';
import { databaseOf, query, startPostgres, withDatabase, type TestPostgres } from './testing/postgres';
import { eventually } from './testing/service';

let postgres: TestPostgres;
let url: string;
const databases: Database[] = [];

let template: string;

beforeAll(async () => {
  postgres = await startPostgres();
  url = template = await postgres.createDatabase();
  await openLedger();
  await closeDatabases();
});
beforeEach(async () => {
  url = await postgres.createDatabase(template);
});
afterEach(closeDatabases);
afterAll(() => postgres.stop());

async function closeDatabases(): Promise<void> {
  for (const database of databases.splice(0)) await database.onApplicationShutdown();
}

async function openLedger(env: Record<string, string> = {}): Promise<Ledger> {
  const database = new Database(readConfig({ DATABASE_URL: url, ...env }), new Log('dispatcher', 'silent'));
  databases.push(database);
  await database.open();
  return new Ledger(database, new LedgerWriter(database));
}

/** Of the ledger that was opened first; what waits on the bus is not asked for. */
const status = (tenant: string | null): Promise<LedgerStatus> =>
  new LedgerOverviewReader(databases[0]!, null as unknown as BusLag).status(tenant);

const identity = { responseId: 'r', sessionId: 'ab'.repeat(8), policyVersion: 0 };
const captured = {
  kind: 'captured',
  identity,
  model: 'seed',
  promptTokens: 1,
  completionTokens: 1,
  finishReason: 'stop',
  untrainable: null,
  userId: null,
  outcomePending: false,
} satisfies TurnEvent;
const paired = { kind: 'paired', identity } satisfies TurnEvent;
const expired = { kind: 'closed', reason: 'expired', detail: null } satisfies TurnEvent;
const dead = { kind: 'dead', code: 'max-deliveries' } satisfies TurnEvent;
const trained = { kind: 'trained', version: 1 } satisfies TurnEvent;

function decision(turnId: string): TurnChange {
  return {
    turnId,
    tenant: 'acme',
    event: { kind: 'decided', identity, case: 'rl', reason: null },
    rows: {
      decisions: [{ turnId, case: 'rl', reward: 1, method: 'combine' }],
      votes: [{ turnId, kind: 'eval', ordinal: 0, score: 1, latencyMs: 1, raw: '1' }],
      samples: [
        {
          turnId,
          tenant: 'acme',
          case: 'rl',
          reward: 1,
          policyVersion: 0,
          promptTokens: 1,
          responseTokens: 1,
          state: 'ready',
        },
      ],
      outbox: [{ turnId, tenant: 'acme', body: Buffer.from('{}'), trace: null }],
    },
  };
}
const change = (turnId: string, event: TurnEvent): TurnChange =>
  event.kind === 'decided' ? decision(turnId) : { turnId, tenant: 'acme', event };

const count = async (table: string): Promise<number> =>
  Number((await query<{ count: string }>(url, `SELECT count(*) FROM ${table}`))[0]?.count);

test('sixty turns, every message twice, all at once, by two dispatchers: the books are those of each turn alone', async () => {
  const ledgers = [await openLedger({ DATABASE_POOL_SIZE: '4' }), await openLedger({ DATABASE_POOL_SIZE: '4' })];
  const decided = { kind: 'decided', identity, case: 'rl', reason: null } satisfies TurnEvent;
  const histories: TurnEvent[][] = [
    [captured],
    [captured, expired],
    [captured, paired],
    [captured, paired, decided],
    [captured, paired, decided, trained, expired],
    [dead, captured, paired, decided],
  ];
  const turns = Array.from({ length: 60 }, (_, index) => ({
    id: randomUUID(),
    events: histories[index % histories.length]!,
  }));
  const messages = turns.flatMap(({ id, events }) => [...events, ...events].map((event) => change(id, event)));
  // A fixed shuffle: by the digits of the golden ratio, so that a failure comes again.
  const shuffled = messages
    .map((message, index) => ({ message, rank: (index * 0.6180339887) % 1 }))
    .sort((a, b) => a.rank - b.rank);
  const news = await Promise.all(shuffled.map(({ message }, index) => ledgers[index % 2]!.record(message)));
  expect(news.filter(Boolean)).toHaveLength(messages.length / 2);

  const expected = turns.map(({ id, events }) =>
    events.reduce<Turn | null>((turn, event) => applied(turn, id, 'acme', event) ?? turn, null)!,
  );
  const books = await status(null);
  expectBalanced(books);
  for (const ending of ['open', 'expired', 'paired', 'failed'] as const) {
    expect([ending, books.turns[ending]]).toEqual([ending, expected.filter((turn) => turn.ending === ending).length]);
  }
  expect(books.cases.rl).toBe(30);
  for (const table of ['decisions', 'votes', 'samples', 'outbox'])
    expect([table, await count(table)]).toEqual([table, 30]);
});

function expectBalanced({ turns, cases }: LedgerStatus): void {
  const { captured: all, ...endings } = turns;
  expect(Object.values(endings).reduce((sum, n) => sum + n, 0)).toBe(all);
  expect(Object.values(cases).reduce((sum, n) => sum + n, 0)).toBe(turns.paired);
}

test.each([
  { why: 'D81: twenty decisions at once on a pool of five', pool: '5', messages: 20 },
  { why: 'D83: fifty decisions at once on a pool of one', pool: '1', messages: 50 },
])('$why', async ({ pool, messages }) => {
  const ledger = await openLedger({ DATABASE_POOL_SIZE: pool });
  const changes = Array.from({ length: messages }, () => decision(randomUUID()));
  expect(await Promise.all(changes.map((one) => ledger.record(one)))).toEqual(changes.map(() => true));
  expect(await count('decisions')).toBe(messages);
  expect(await count('outbox')).toBe(messages);
});

test('D82: a database that is too slow is a dependency away, and nothing is stored in halves', async () => {
  const [impatient, ledger] = [await openLedger({ DATABASE_TIMEOUT_MS: '300' }), await openLedger()];
  const other = new Client({ connectionString: url });
  await other.connect();
  await other.query('BEGIN; LOCK TABLE outbox');
  const one = decision(randomUUID());
  await expect(impatient.record(one)).rejects.toThrow(DependencyUnavailable);
  await other.query('ROLLBACK');
  await other.end();
  expect(await count('decisions')).toBe(0);
  expect(await ledger.record(one)).toBe(true);
  expect(await count('decisions')).toBe(1);
});

test('connections cut in the middle of the work are a dependency away, and what is tried again is stored once', async () => {
  const ledger = await openLedger();
  const changes = Array.from({ length: 40 }, () => decision(randomUUID()));
  const untilStored = async (one: TurnChange): Promise<void> => {
    for (;;) {
      try {
        return void (await ledger.record(one));
      } catch (error) {
        expect(error).toBeInstanceOf(DependencyUnavailable);
      }
    }
  };
  const work = changes.map(untilStored);
  for (let cut = 0; cut < 5; cut++) {
    await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  }
  await Promise.all(work);
  for (const table of ['turns', 'decisions', 'votes', 'samples', 'outbox'])
    expect([table, await count(table)]).toEqual([table, 40]);
});

test('a value that no column takes is no dependency away', async () => {
  const ledger = await openLedger();
  const one = decision(randomUUID());
  const broken = {
    ...one,
    rows: {
      ...one.rows,
      decisions: [{ turnId: one.turnId, case: 'rl' as const, method: 'm', policyVersion: 2 ** 40 }],
    },
  };
  await expect(ledger.record(broken)).rejects.not.toThrow(DependencyUnavailable);
});

test('a value that no column takes fails alone, whatever it shares its commit with', async () => {
  const ledger = await openLedger();
  const changes = Array.from({ length: 9 }, () => decision(randomUUID()));
  const { turnId } = changes[4]!;
  const decisions = [{ turnId, case: 'rl' as const, method: 'm', policyVersion: 2 ** 40 }];
  changes[4] = { ...changes[4]!, rows: { ...changes[4]!.rows, decisions } };
  const ends = await Promise.allSettled(changes.map((one) => ledger.record(one)));
  expect(ends.map((end) => end.status === 'fulfilled')).toEqual(changes.map((_, index) => index !== 4));
  for (const table of ['turns', 'decisions', 'outbox']) expect([table, await count(table)]).toEqual([table, 8]);
});

test('what a command forgets is not written again from what a dispatcher remembers', async () => {
  const ledger = await openLedger();
  const turnId = randomUUID();
  await ledger.record({ turnId, tenant: 'acme', event: captured });
  await query(url, `DELETE FROM turns WHERE id = '${turnId}'`);
  expect(await ledger.record({ turnId, tenant: 'acme', event: expired })).toBe(true);
  expect(await ledger.turn(turnId)).toMatchObject({
    revision: 1,
    captured: false,
    responseId: null,
    closed: 'expired',
  });
});

test('a version that lists turns the ledger does not know names them, and counts the others once', async () => {
  const ledger = await openLedger();
  const [known, unknown] = [randomUUID(), randomUUID()];
  await ledger.record(decision(known));
  const turnIds = [known, unknown];
  const rows = {
    steps: [{ version: 1, parent: 0, turnIds, metrics: {} }],
    versions: [{ version: 1, state: 'refused' as const, reason: 'drift', adapter: 'a', adapterDir: 'd' }],
    ended: turnIds.map((turnId) => ({ turnId, state: 'trained' as const, trainedIn: 1 })),
  };
  expect(await ledger.recordStep({ version: 1, turnIds, rows })).toEqual([unknown]);
  expect(await ledger.recordStep({ version: 1, turnIds, rows })).toEqual([unknown]);
  expect(await status('acme')).toMatchObject({
    samplesTrained: 1,
    waitingSamples: 0,
    steps: 1,
    versionsPublished: 0,
    policyVersion: 0,
  });
});

test('a dispatcher that starts before its database waits for it', async () => {
  const [server, name] = [withDatabase(url, 'postgres'), databaseOf(url)];
  await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  let isOpen = false;
  const opening = openLedger().then(() => (isOpen = true));
  await eventually(async () => databases.length > 0);
  expect(isOpen).toBe(false);
  await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await opening;
});
