import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { migrate } from './migrate';
import { startPostgres, type TestPostgres } from './testing/postgres';

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
  expect(applied.flat()).toEqual(['0001_ledger', '0002_signal']);
  expect(await migrated(url)).toEqual([]);
  const script = path.join(__dirname, '..', 'prisma', 'migrate.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'drift'], { env: { DATABASE_URL: url } });
  expect(stdout).toBe('');
});
