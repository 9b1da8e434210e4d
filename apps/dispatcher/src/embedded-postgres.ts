import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { dataArgument, serviceAccount, spawnOptions } from './postgres-account';
import { postgresBinaries, type Account } from './postgres-binaries';
import { PostgresFolder, type Connection } from './postgres-folder';

/** Advisory lock that every dispatcher on the server holds in shared mode; who gets it alone is the last one. */
const MEMBERS_LOCK = 0x48434d42;
const RETRY_MS = 100;

type Report = (event: string, fields: object) => void;

/**
 * The PostgreSQL server of one data folder: `DATA_DIR/postgres`.
 *
 * Whoever comes first starts it, everyone else joins it, the last one to leave stops it. It is a process of its own, so a dispatcher that is
 * killed leaves it running, and the next one joins it again. A server that died is started again.
 */
export class EmbeddedPostgres {
  private readonly folder: PostgresFolder;
  private member: Client | null = null;
  private url: string | null = null;
  private opening: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(
    dataDir: string,
    private readonly report: Report,
    /** Called when the server came back on another port. */
    private readonly onMoved: (url: string) => void = () => undefined,
  ) {
    this.folder = new PostgresFolder(path.resolve(dataDir, 'postgres'));
  }

  /**
   * Joins or starts the server and returns its connection string. Tries until it succeeds, and reports why it does not.
   *
   * @throws Error when no waiting can help: no PostgreSQL for this platform, no account to run it.
   */
  open(): Promise<string> {
    const opening = this.joinOrStart();
    this.opening = opening.catch(() => undefined);
    return opening;
  }

  private async joinOrStart(): Promise<string> {
    // No waiting cures a missing account or a platform without binaries: these throw.
    const account = await serviceAccount();
    const native = await postgresBinaries(account);
    for (let attempt = 1; !this.closed; attempt++) {
      try {
        const connection = await this.folder.connection(account, native);
        const url = (await this.join(connection)) ?? (await this.start(connection, account, native, attempt));
        if (url !== null) return (this.url = url);
      } catch (error) {
        this.report('waiting', { for: 'database', error });
      }
      await sleep(RETRY_MS * Math.min(attempt, 20));
    }
    throw new Error('closed while the database was starting');
  }

  /** Leaves the server; stops it when no other dispatcher is left. */
  async leave(): Promise<'stopped' | 'left'> {
    this.closed = true;
    await this.opening;
    const member = this.member;
    this.member = null;
    if (member === null) return 'left';
    try {
      await member.query('SELECT pg_advisory_unlock_shared($1)', [MEMBERS_LOCK]);
      const { rows } = await member.query<{ alone: boolean }>('SELECT pg_try_advisory_lock($1) AS alone', [
        MEMBERS_LOCK,
      ]);
      if (rows[0]?.alone !== true) return 'left';
      const running = await this.folder.postmaster();
      if (running === null) return 'left';
      process.kill(running.pid, 'SIGINT'); // PostgreSQL's fast shutdown
      for (let waited = 0; waited < 15_000 && (await this.folder.postmaster()) !== null; waited += 50) await sleep(50);
      return 'stopped';
    } catch {
      return 'left'; // the server went away by itself
    } finally {
      await member.end().catch(() => undefined);
    }
  }

  /** The connection string of the server that runs on this folder, or `null` when none answers to our password. */
  private async join(connection: Connection): Promise<string | null> {
    const running = await this.folder.postmaster();
    if (running === null) return null;
    const { user, password, database } = connection;
    const url = `postgresql://${user}:${password}@127.0.0.1:${running.port}/${database}?sslmode=disable`;
    const member = new Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      application_name: 'hindcast-dispatcher',
      keepAlive: true,
    });
    member.on('error', () => undefined); // `end` follows
    try {
      await member.connect();
      await member.query('SELECT pg_advisory_lock_shared($1)', [MEMBERS_LOCK]);
    } catch {
      await member.end().catch(() => undefined);
      return null;
    }
    member.on('end', () => void this.reopen(member));
    this.member = member;
    return url;
  }

  /** The server went away under us: it is joined or started again. */
  private async reopen(lost: Client): Promise<void> {
    if (this.closed || this.member !== lost) return;
    this.member = null;
    this.report('database.lost', {});
    const before = this.url;
    const url = await this.open().catch(() => null);
    if (url === null) return;
    this.report('database.back', {});
    if (url !== before) this.onMoved(url);
  }

  private async start(
    connection: Connection,
    account: Account | null,
    native: string,
    attempt: number,
  ): Promise<string | null> {
    const running = await this.folder.postmaster();
    if (running !== null) {
      if (await isPostgres(running.pid)) {
        if (attempt % 50 === 0) this.report('waiting', { for: 'database', pid: running.pid });
        return null; // starting, recovering or stopping: ask again soon
      }
      // After a reboot or in a new container the number may be some other process's, which PostgreSQL would respect for ever.
      await rm(this.folder.pidFile, { force: true });
    }
    const port = await freePort(connection.port);
    const log = await open(this.folder.logFile, 'a');
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'log_checkpoints=off',
      'shared_buffers=128MB',
      // Checkpoints write every touched page whole; fewer of them cost a longer start after a crash, and no durability.
      'max_wal_size=2GB',
      'checkpoint_timeout=15min',
      'wal_buffers=16MB',
      // Compiling a statement takes longer than any of ours runs.
      'jit=off',
    ];
    const server = spawn(
      path.join(native, 'bin', 'postgres'),
      [
        '-D',
        dataArgument(account, this.folder.cluster),
        '-p',
        String(port),
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...spawnOptions(account, this.folder.cluster), detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
    const ended = new Promise<string>((resolve) => {
      server.once('error', (error) => resolve(error.message));
      server.once('exit', (code, signal) => resolve(`exit code ${code ?? signal}`));
    });
    await log.close();
    server.unref();
    const url = await this.whenReady(connection, server, ended);
    if (url === null) return null;
    this.report('database.started', { pid: server.pid, port });
    await this.folder.remember({ ...connection, port });
    return url;
  }

  private async whenReady(
    connection: Connection,
    server: ChildProcess,
    ended: Promise<string>,
  ): Promise<string | null> {
    let end: string | null = null;
    void ended.then((why) => (end = why));
    for (;;) {
      const running = await this.folder.postmaster();
      if (running?.pid === server.pid && running?.ready) {
        const url = await this.join(connection);
        if (url !== null) return url;
      }
      if (this.closed) {
        server.kill('SIGINT');
        return null;
      }
      // Another dispatcher's server may have been faster; then ours has ended and theirs is joined.
      if (end !== null) {
        if (running !== null) return null;
        throw new Error(`PostgreSQL did not start (${String(end)}), see ${this.folder.logFile}`);
      }
      await sleep(20);
    }
  }
}

/** Whether the process is a PostgreSQL server; in doubt, yes. */
async function isPostgres(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return command.trim() === 'postgres';
}

/** `preferred` when nobody listens there, else a port that the system picks. */
async function freePort(preferred: number | null): Promise<number> {
  const server = createServer();
  const listen = async (port: number): Promise<boolean> => {
    server.listen(port, '127.0.0.1');
    return Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)]).catch(
      () => false,
    );
  };
  if (preferred === null || !(await listen(preferred))) await listen(0);
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
