import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { root } from '../root';
import { databaseRefusal, tablesFinding, versionFinding, type Place } from './core/database-findings';
import { fault, skipped, type Finding } from './core/finding';
import { folderOf, type Settings } from './settings';

const CONNECT_MS = 5_000;

export interface DatabaseLook {
  readonly findings: readonly Finding[];
  /** The database's clock against this one's, ms. */
  readonly clockMs: number | null;
}

/** The ledger's database: that of DATABASE_URL, or the embedded one where it runs. */
export async function checkDatabase({ ledger, dataDir }: Settings): Promise<DatabaseLook> {
  if (ledger.DATABASE_URL !== undefined) return await look(ledger.DATABASE_URL, 'DATABASE_URL');
  const embedded = embeddedUrl(folderOf(dataDir));
  if (typeof embedded !== 'string') return { findings: [embedded], clockMs: null };
  return await look(embedded, 'embedded');
}

/** Of the embedded server while it runs; else what there is to say of it. */
function embeddedUrl(dataDir: string): string | Finding {
  const folder = join(dataDir, 'postgres');
  const file = join(folder, 'connection.json');
  if (!existsSync(file))
    return skipped('database', `DATABASE_URL is not set; the dispatcher makes its own in ${folder} when it starts`);
  try {
    const { user, password, database } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const pidFile = join(folder, 'cluster', 'postmaster.pid');
    const [pid, , , port] = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').split('\n') : [];
    if (!isAlive(Number(pid)))
      return skipped('database', `the embedded one of ${folder} does not run; the dispatcher starts it`);
    return `postgresql://${encodeURIComponent(user!)}:${encodeURIComponent(password!)}@127.0.0.1:${port}/${database}`;
  } catch {
    return fault(
      'database',
      `${file} is damaged`,
      'Put it back from a copy: the password in it is the only one that opens the ledger.',
    );
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function look(url: string, source: Place['source']): Promise<DatabaseLook> {
  const place = placeOf(url, source);
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
    application_name: 'hindcast-doctor',
  });
  client.on('error', () => undefined); // the query in flight fails too
  try {
    await client.connect();
    const before = Date.now();
    const { rows } = await client.query<{ version: string; now: string }>(
      `SELECT current_setting('server_version_num') AS version, extract(epoch FROM clock_timestamp()) * 1000 AS now`,
    );
    const clockMs = Number(rows[0]!.now) - (before + Date.now()) / 2;
    const findings = [
      versionFinding(place, Number(rows[0]!.version)),
      tablesFinding(await applied(client), await wanted()),
    ];
    return { findings, clockMs };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return { findings: [databaseRefusal(place, code ?? null, message)], clockMs: null };
  } finally {
    await client.end().catch(() => undefined);
  }
}

function placeOf(url: string, source: Place['source']): Place {
  try {
    const { hostname, port, pathname, username } = new URL(url);
    return {
      source,
      host: `${hostname}:${port || '5432'}`,
      database: pathname.slice(1),
      user: decodeURIComponent(username),
    };
  } catch {
    return { source, host: 'the address of DATABASE_URL', database: '?', user: '?' };
  }
}

/** Migrations that the tables have; `null` where there are no tables. */
async function applied(client: Client): Promise<string[] | null> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  );
  if (!tables[0]?.exists) return null;
  const { rows } = await client.query<{ name: string }>(
    'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  return rows.map(({ name }) => name);
}

/** Migrations of this version. */
async function wanted(): Promise<string[]> {
  const folder = join(root, 'apps/dispatcher/prisma/migrations');
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
