import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError } from '@hindcast/contracts';
import { Log } from '@hindcast/platform';
import type { DispatcherConfig } from '../config';
import { isRefusedLogin } from '../core/database-error';
import { Database } from '../database';
import { holdsLedger } from './command-config';
import type { Terminal } from './terminal';

/** A server that was shut down hard reads its log for a while first. */
const PATIENCE_MS = 30_000;

/** Tells the person why a command waits, and keeps standard output for its result. */
class CommandLog extends Log {
  /** Rejects when the database will not let this command in, however long it waits. */
  readonly refused: Promise<never>;
  private isSaid = false;
  private refuse: (error: HindcastError) => void = () => undefined;

  constructor(private readonly terminal: Terminal) {
    super('command', 'silent');
    this.refused = new Promise((_, reject) => (this.refuse = reject));
    this.refused.catch(() => undefined);
  }

  override warn(event: string, fields: { error?: unknown } = {}): void {
    if (event !== 'waiting' || this.isSaid) return;
    const { error } = fields;
    if (isRefusedLogin(error)) {
      this.refuse(new HindcastError('config-invalid', `DATABASE_URL: ${(error as Error).message}`));
      return;
    }
    this.isSaid = true;
    this.terminal.say(`Waiting for the database: ${error instanceof Error ? error.message : 'it does not answer'}`);
  }

  override info(event: string, fields: { error?: unknown } = {}): void {
    if (event === 'waiting') this.warn(event, fields);
  }
}

/**
 * Runs `work` with the ledger's database: `DATABASE_URL`, or the embedded server of `DATA_DIR`, which is joined where it runs and
 * started for the command where it does not.
 *
 * @throws HindcastError `not-found` where no dispatcher has ever kept a ledger; `dependency-unavailable` when the database does not answer,
 *   `config-invalid` when it refuses the login
 */
export async function withLedger<T>(
  config: Readonly<DispatcherConfig>,
  terminal: Terminal,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  // A command that looks for a ledger must not make an empty one.
  if (config.DATABASE_URL === undefined && !holdsLedger(config.DATA_DIR))
    throw new HindcastError(
      'not-found',
      `there is no ledger in ${config.DATA_DIR}: set DATA_DIR (or --data-dir) to the dispatcher's, or DATABASE_URL`,
    );
  const log = new CommandLog(terminal);
  const database = new Database(config, log);
  try {
    const isOpen = await Promise.race([
      terminal.interrupted,
      log.refused,
      database.open().then(() => true),
      sleep(PATIENCE_MS, false, { ref: false }),
    ]);
    if (!isOpen)
      throw new HindcastError('dependency-unavailable', `the database does not answer within ${PATIENCE_MS / 1000} s`);
    // Its server is not to be left running by a command that was stopped.
    return await Promise.race([work(database), terminal.interrupted]);
  } finally {
    await database.onApplicationShutdown();
  }
}
