import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DependencyUnavailable } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import { PrismaPg } from '@prisma/adapter-pg';
import { Client, Pool } from 'pg';
import type { DispatcherConfig } from './config';
import { isDataError } from './core/database-error';
import { EmbeddedPostgres } from './embedded-postgres';
import { PrismaClient } from './generated/client';
import { migrate } from './migrate';

const RETRY_MS = 1_000;
/** A health check is not to hang with what it checks. */
const CHECK_MS = 2_000;

/** A statement that the server plans once per connection, or, without a name, for its values each time. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** The connection to PostgreSQL: the server that `DATABASE_URL` names, or the embedded one of `DATA_DIR`. */
@Injectable()
export class Database implements OnApplicationShutdown {
  /** Migrations that were applied when it was opened. */
  applied: readonly string[] = [];

  private prisma: PrismaClient | null = null;
  private pool: Pool | null = null;
  private embedded: EmbeddedPostgres | null = null;
  private closed = false;

  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly log: Log,
  ) {}

  /** Waits until the database answers, saying so, and brings its tables up to date. */
  async open(): Promise<void> {
    const url = this.config.DATABASE_URL ?? (await this.openEmbedded());
    for (let attempt = 0; !this.closed; attempt++) {
      try {
        const applied = await this.prepareTables(url);
        this.applied = applied;
        if (applied.length > 0) this.log.info('database.migrated', { applied });
        this.prisma = this.connect(url);
        return;
      } catch (error) {
        if (attempt % 10 === 0) this.log.warn('waiting', { for: 'database', error });
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Runs a prepared statement on the driver itself: bytes go as bytes, and nothing is planned or translated twice.
   *
   * @throws DependencyUnavailable as {@link run}
   */
  sql<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.run(async () => (await this.pool!.query<Row & object>({ ...statement, values: [...values] })).rows);
  }

  /** Runs statements in one transaction and returns the rows of the last. @throws DependencyUnavailable as {@link run} */
  transaction<Row>(steps: readonly (readonly [Statement, readonly unknown[]])[]): Promise<Row[]> {
    return this.run(async () => {
      const client = await this.pool!.connect();
      let failure: Error | undefined;
      const onError = (error: Error): void => void (failure = error); // the statement in hand fails too
      client.on('error', onError);
      try {
        await client.query('BEGIN');
        let rows: Row[] = [];
        for (const [statement, values] of steps)
          rows = (await client.query<Row & object>({ ...statement, values: [...values] })).rows;
        await client.query('COMMIT');
        return rows;
      } catch (error) {
        failure = error as Error;
        throw error;
      } finally {
        client.off('error', onError);
        // Whatever the transaction came to, a connection that failed in it is not used again.
        client.release(failure);
      }
    });
  }

  /**
   * Runs a query.
   *
   * @throws DependencyUnavailable when the database is away, out of connections or too slow; the query may have been carried out all the same
   */
  async run<T>(query: (prisma: PrismaClient) => Promise<T>): Promise<T> {
    if (this.prisma === null) throw new DependencyUnavailable('database', 'not open');
    try {
      return await query(this.prisma);
    } catch (cause) {
      if (isDataError(cause) || cause instanceof DependencyUnavailable) throw cause;
      const reason = cause instanceof Error ? cause.message.trim().split('\n').at(-1) : String(cause);
      throw new DependencyUnavailable('database', reason ?? 'query failed', undefined, { cause });
    }
  }

  /** @throws DependencyUnavailable while the database does not answer. */
  async check(): Promise<void> {
    const answer = this.run((prisma) => prisma.$queryRaw`SELECT 1`);
    const silence = sleep(CHECK_MS, undefined, { ref: false }).then(() => {
      throw new DependencyUnavailable('database', `no answer within ${CHECK_MS} ms`);
    });
    await Promise.race([answer, silence]);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.prisma?.$disconnect();
    this.prisma = null;
    const outcome = await this.embedded?.leave();
    if (outcome) this.log.info('database.left', { server: outcome });
  }

  private async openEmbedded(): Promise<string> {
    this.embedded = new EmbeddedPostgres(
      this.config.DATA_DIR,
      (event, fields) => this.log.info(event, fields),
      (url) => void this.moveTo(url),
    );
    return this.embedded.open();
  }

  private async moveTo(url: string): Promise<void> {
    const before = this.prisma;
    if (before === null || this.closed) return;
    this.prisma = this.connect(url);
    await before.$disconnect();
  }

  private async prepareTables(url: string): Promise<readonly string[]> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true });
    client.on('error', () => undefined); // the query in flight fails too
    try {
      await client.connect();
      return await migrate(client, url);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private connect(url: string): PrismaClient {
    const timeoutMs = this.config.DATABASE_TIMEOUT_MS;
    const pool = new Pool({
      connectionString: url,
      max: this.config.DATABASE_POOL_SIZE,
      connectionTimeoutMillis: timeoutMs,
      // The server gives up first and says why; the client's limit is for a server that is not heard of any more.
      statement_timeout: timeoutMs,
      query_timeout: timeoutMs + 5_000,
      keepAlive: true,
      application_name: 'hindcast-dispatcher',
    });
    pool.on('error', (error) => this.log.warn('database.connection-lost', { error }));
    this.pool = pool;
    const adapter = new PrismaPg(pool, { disposeExternalPool: true });
    return new PrismaClient({ adapter, errorFormat: 'minimal' });
  }
}
