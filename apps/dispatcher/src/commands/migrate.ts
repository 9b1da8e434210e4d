import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError } from '@hindcast/contracts';
import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, Option } from 'commander';
import { Client } from 'pg';
import { isLockTimeout, isRefusedLogin } from '../core/database-error';
import { migrate } from '../migrate';
import { commandConfig } from './command-config';
import { withLedger } from './open-ledger';
import { dataDirOption } from './options';
import type { Terminal } from './terminal';

const RETRY_MS = 1_000;
const CONNECT_MS = 5_000;

/** `npm run migrate`: the ledger's tables, for a job that runs before the dispatchers of a new version. They would do the same. */
export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description("Bring the ledger's tables up to this version. Several at once are fine; one of them does it.")
    .addOption(dataDirOption())
    .addOption(
      new Option(
        '--wait <seconds>',
        'how long to wait for a database that does not answer, and for others who migrate it',
      )
        .argParser(wholeNumber(0))
        .default(120),
    )
    .action(async ({ dataDir, wait }: { dataDir?: string; wait: number }) => {
      const { dispatcher } = commandConfig(terminal.env, dataDir);
      const url = dispatcher.DATABASE_URL;
      const applied =
        url === undefined
          ? // Its server is this command's to start, and opening it does all of it.
            await withLedger(dispatcher, terminal, (database) => Promise.resolve(database.applied))
          : await migrateAt(url, wait * 1_000, terminal);
      terminal.print(applied.length === 0 ? 'The tables are up to date.' : `Applied ${applied.join(', ')}.`);
    });
}

/**
 * @throws HindcastError `dependency-unavailable` when the database does not answer in time, or somebody else has its lock for longer;
 *   `config-invalid` when it refuses the login; any other error when a migration fails
 */
async function migrateAt(url: string, patienceMs: number, terminal: Terminal): Promise<readonly string[]> {
  const deadline = Date.now() + patienceMs;
  const client = await connected(url, patienceMs, deadline, terminal);
  try {
    // For the lock under which one at a time migrates; what migrates has a connection of its own.
    await client.query(`SET lock_timeout = ${Math.max(1, deadline - Date.now())}`);
    return await Promise.race([migrate(client, url), terminal.interrupted]);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new HindcastError(
      'dependency-unavailable',
      `another client of the database of DATABASE_URL migrates it, or holds the lock for that, for ${patienceMs / 1_000} s; wait for it, or end the connection that pg_locks has with locktype advisory`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connected(url: string, patienceMs: number, deadline: number, terminal: Terminal): Promise<Client> {
  for (let attempt = 0; ; attempt++) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, keepAlive: true });
    client.on('error', () => undefined); // the query in flight fails too
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      const reason = reasonOf(error);
      if (isRefusedLogin(error)) throw new HindcastError('config-invalid', `DATABASE_URL: ${reason}`);
      if (Date.now() >= deadline)
        throw new HindcastError(
          'dependency-unavailable',
          `the database of DATABASE_URL does not answer within ${patienceMs / 1_000} s: ${reason}`,
        );
      if (attempt === 0) terminal.say(`Waiting for the database: ${reason}`);
      await Promise.race([sleep(RETRY_MS), terminal.interrupted]);
    }
  }
}

/** A host with several addresses fails with one error for each of them. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
