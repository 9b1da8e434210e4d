import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Client } from 'pg';

const run = promisify(execFile);

/** Advisory lock under which one dispatcher at a time changes the tables. */
const MIGRATIONS_LOCK = 0x48434d47;
const prismaFolder = path.join(__dirname, '..', 'prisma');

/**
 * Brings the database's tables up to the newest migration, and returns the names of those that were applied. Several dispatchers may start
 * at once.
 *
 * @param client a connection to the database `url`
 * @throws Error when a migration fails
 */
export async function migrate(client: Client, url: string): Promise<readonly string[]> {
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATIONS_LOCK]);
  try {
    if (await isCurrent(client)) return [];
    // The address goes through a pipe: arguments and environments are open to other programs.
    const engine = run(process.execPath, [path.join(prismaFolder, 'migrate.mjs'), 'apply', '--url-from-stdin'], {
      timeout: 10 * 60_000,
    });
    engine.child.stdin?.end(url);
    const { stdout } = await engine.catch((cause: Error & { stderr?: string }) => {
      throw new Error(`the migrations failed: ${saidIn(cause.stderr ?? '') ?? cause.message}`, { cause });
    });
    return (JSON.parse(stdout) as { applied: string[] }).applied;
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATIONS_LOCK]);
  }
}

/** What the engine's process said of its end, without its stack. */
const saidIn = (stderr: string): string | null =>
  /^\w*Error(?: \[\w+\])?: ([^]*?)(?:\n +at |$)/m.exec(stderr)?.[1]?.trim() ?? null;

async function isCurrent(client: Client): Promise<boolean> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  );
  if (!tables[0]?.exists) return false;
  const { rows } = await client.query<{ name: string }>(
    'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  const applied = new Set(rows.map((row) => row.name));
  const entries = await readdir(path.join(prismaFolder, 'migrations'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).every((entry) => applied.has(entry.name));
}
