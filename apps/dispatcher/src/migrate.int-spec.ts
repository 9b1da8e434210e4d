import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { migrate } from './migrate';
import { query, startPostgres, type TestPostgres } from './testing/postgres';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

async function migrated(url: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await migrate(client, url);
  } finally {
    await client.end();
  }
}

test('dispatchers that start together migrate once, and the tables are the schema', async () => {
  const url = await postgres.createDatabase();
  const applied = await Promise.all([migrated(url), migrated(url), migrated(url)]);
  expect(applied.flat()).toEqual([
    '0001_ledger',
    '0002_signal',
    '0003_first_outcome',
    '0004_rolled_back',
    '0005_lists',
    '0006_traces',
  ]);
  expect(await migrated(url)).toEqual([]);
  const script = path.join(__dirname, '..', 'prisma', 'migrate.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'drift'], { env: { DATABASE_URL: url } });
  expect(stdout).toBe('');
});

test('a ledger of the first version keeps its turns, and what it had still to send is still to be sent', async () => {
  const url = await postgres.createDatabase();
  await createFirstLedger(url);
  await query(
    url,
    `INSERT INTO turns (id, tenant, revision, captured, paired, decided, ending, "case")
      VALUES ('ready', 'acme', 3, true, true, 'rl', 'paired', 'rl'), ('ended', 'acme', 4, true, true, 'rl', 'paired', 'rl')`,
  );
  await query(
    url,
    `INSERT INTO decisions ("turnId", "case", reward, method, "evalScore") VALUES ('ready', 'rl', -1, 'combine', -1)`,
  );
  await query(
    url,
    `INSERT INTO samples ("turnId", tenant, "case", reward, "policyVersion", "promptTokens", "responseTokens", state)
      VALUES ('ready', 'acme', 'rl', -1, 0, 4, 3, 'ready')`,
  );
  await query(
    url,
    `INSERT INTO votes ("turnId", kind, ordinal, score, "latencyMs", raw) VALUES ('ready', 'eval', 0, -1, 12.5, 'no')`,
  );
  // An entry without a body was refused or trained before it was marked.
  await query(
    url,
    `INSERT INTO outbox ("turnId", tenant, body) VALUES ('ready', 'acme', '{"reward": -1, "hint": "né"}'), ('ended', 'acme', NULL)`,
  );
  expect(await migrated(url)).toEqual([
    '0002_signal',
    '0003_first_outcome',
    '0004_rolled_back',
    '0005_lists',
    '0006_traces',
  ]);

  expect(await query(url, 'SELECT id, judged, "outcomePending", "userId" FROM turns ORDER BY id')).toEqual(
    ['ended', 'ready'].map((id) => ({ id, judged: false, outcomePending: false, userId: null })),
  );
  expect(await query(url, 'SELECT reward, guards, verdicts FROM decisions')).toEqual([
    { reward: -1, guards: null, verdicts: null },
  ]);
  expect(await query(url, 'SELECT reward FROM samples')).toEqual([{ reward: -1 }]);
  expect(await query(url, 'SELECT score, cost, "promptVersion" FROM votes')).toEqual([
    { score: -1, cost: null, promptVersion: null },
  ]);
  const unsent = await query<{ turnId: string; body: Buffer }>(
    url,
    'SELECT "turnId", body FROM outbox WHERE "sentAt" IS NULL',
  );
  expect(unsent.map(({ turnId, body }) => [turnId, JSON.parse(body.toString())])).toEqual([
    ['ready', { reward: -1, hint: 'né' }],
  ]);
});

/** Tables as the first migration alone made them, and Prisma's note of it. */
async function createFirstLedger(url: string): Promise<void> {
  const script = await readFile(
    path.join(__dirname, '..', 'prisma', 'migrations', '0001_ledger', 'migration.sql'),
    'utf8',
  );
  await query(url, script);
  await query(
    url,
    `CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(),
      applied_steps_count integer NOT NULL DEFAULT 0)`,
  );
  const checksum = createHash('sha256').update(script).digest('hex');
  await query(
    url,
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
      VALUES ('${randomUUID()}', '${checksum}', now(), '0001_ledger', 1)`,
  );
}
