import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../embedded-postgres';

export interface TestPostgres {
  readonly dataDir: string;
  /** A new database on the server: empty, or a copy of another one. */
  createDatabase(template?: string): Promise<string>;
  stop(): Promise<void>;
}

/** The real server, in a temporary folder. */
export async function startPostgres(): Promise<TestPostgres> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'hindcast-postgres-'));
  const server = new EmbeddedPostgres(dataDir, () => undefined);
  const url = await server.open();
  return {
    dataDir,
    createDatabase: async (template) => {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await query(url, `CREATE DATABASE ${name} TEMPLATE ${template ? databaseOf(template) : 'template1'}`);
      return withDatabase(url, name);
    },
    stop: async () => {
      await server.leave();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The connection string of another database on the same server. */
export const withDatabase = (url: string, name: string): string => url.replace(databaseOf(url) + '?', `${name}?`);

export const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

/** One statement over a connection of its own. */
export async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
