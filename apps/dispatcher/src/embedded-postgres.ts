import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { postgresBinaries, type Account } from './postgres-binaries';

const run = promisify(execFile);

/** Advisory lock that every dispatcher on the server holds in shared mode; who gets it alone is the last one. */
const MEMBERS_LOCK = 0x48434d42;
const RETRY_MS = 100;

interface Connection {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Where the server listened last; tried first at the next start. */
  readonly port: number | null;
}

type Report = (event: string, fields: object) => void;

/**
 * The PostgreSQL server of one data folder: `DATA_DIR/postgres`.
 *
 * Whoever comes first starts it, everyone else joins it, the last one to leave stops it. It is a process of its own, so a dispatcher that is
 * killed leaves it running, and the next one joins it again. A server that died is started again.
 *
 * - `connection.json`: user, password, database, last port. Only a server that knows the password is taken for ours.
 * - `cluster/`: PostgreSQL's files. Its `postmaster.pid` says which process serves the folder, on which port, and keeps a second one out.
 * - `postgres.log`: what the server prints.
 */
export class EmbeddedPostgres {
  private readonly folder: string;
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
    this.folder = path.resolve(dataDir, 'postgres');
  }

  private get cluster(): string {
    return path.join(this.folder, 'cluster');
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
        const connection = await this.ensureCluster(account, native);
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
      const running = await this.postmaster();
      if (running === null) return 'left';
      process.kill(running.pid, 'SIGINT'); // PostgreSQL's fast shutdown
      for (let waited = 0; waited < 15_000 && (await this.postmaster()) !== null; waited += 50) await sleep(50);
      return 'stopped';
    } catch {
      return 'left'; // the server went away by itself
    } finally {
      await member.end().catch(() => undefined);
    }
  }

  /** The connection string of the server that runs on this folder, or `null` when none answers to our password. */
  private async join(connection: Connection): Promise<string | null> {
    const running = await this.postmaster();
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
    const running = await this.postmaster();
    if (running !== null) {
      if (await isPostgres(running.pid)) {
        if (attempt % 50 === 0) this.report('waiting', { for: 'database', pid: running.pid });
        return null; // starting, recovering or stopping: ask again soon
      }
      // After a reboot or in a new container the number may be some other process's, which PostgreSQL would respect for ever.
      await rm(path.join(this.cluster, 'postmaster.pid'), { force: true });
    }
    const port = await freePort(connection.port);
    const log = await open(path.join(this.folder, 'postgres.log'), 'a');
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
        dataArgument(account, this.cluster),
        '-p',
        String(port),
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...spawnOptions(account, this.cluster), detached: true, stdio: ['ignore', log.fd, log.fd] },
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
    await this.remember({ ...connection, port });
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
      const running = await this.postmaster();
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
        throw new Error(`PostgreSQL did not start (${String(end)}), see ${path.join(this.folder, 'postgres.log')}`);
      }
      await sleep(20);
    }
  }

  /** Creates the cluster once, under another name that is then renamed: of two at the same time one wins, and half a cluster is none. */
  private async ensureCluster(account: Account | null, native: string): Promise<Connection> {
    const existing = await this.remembered();
    if (existing !== null) return existing;
    const fresh = `${this.folder}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
    const cluster = path.join(fresh, 'cluster');
    const connection: Connection = {
      user: 'hindcast',
      password: randomBytes(24).toString('hex'),
      database: 'hindcast',
      port: null,
    };
    try {
      await mkdir(cluster, { recursive: true });
      await chmod(cluster, 0o700);
      if (account !== null) await chown(cluster, account.uid, account.gid);
      const options = spawnOptions(account, cluster);
      const data = dataArgument(account, cluster);
      await run(
        path.join(native, 'bin', 'initdb'),
        ['-D', data, '-U', connection.user, '--auth=trust', '--encoding=UTF8', '--locale=C'],
        options,
      );
      // No connection is taken before the password is set, and none without it afterwards.
      await writeFile(path.join(cluster, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');
      const single = spawn(path.join(native, 'bin', 'postgres'), ['--single', '-D', data, 'postgres'], {
        ...options,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      let said = '';
      single.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
      // A server that ends before it has read says why on its standard error.
      single.stdin.on('error', () => undefined);
      single.stdin.end(
        `ALTER ROLE ${connection.user} PASSWORD '${connection.password}'\nCREATE DATABASE ${connection.database}\n`,
      );
      const [code] = (await once(single, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`PostgreSQL's single-user mode ended with code ${code}: ${said.trim()}`);
      await writeFile(path.join(fresh, 'connection.json'), JSON.stringify(connection), { mode: 0o600 });
      await rename(fresh, this.folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
    const stored = await this.remembered();
    if (stored === null) throw new Error(`${this.folder} is no database of ours: it has no connection.json`);
    return stored;
  }

  /** What `postmaster.pid` says: the process that serves the folder. The file is left behind by a server that was killed. */
  private async postmaster(): Promise<{ pid: number; port: number; ready: boolean } | null> {
    const lines = (await readFile(path.join(this.cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    if (!(pid > 0) || !(port > 0) || !isAlive(pid)) return null;
    return { pid, port, ready: lines[7]?.trim() === 'ready' };
  }

  private async remembered(): Promise<Connection | null> {
    const file = path.join(this.folder, 'connection.json');
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null) return null;
    try {
      return JSON.parse(text) as Connection;
    } catch (cause) {
      // Not made anew: the password in it is the only one that opens the ledger.
      throw new Error(`${file} is damaged; put it back from a copy`, { cause });
    }
  }

  private async remember(connection: Connection): Promise<void> {
    const file = path.join(this.folder, 'connection.json');
    const fresh = `${file}.new-${process.pid}`;
    await writeFile(fresh, JSON.stringify(connection), { mode: 0o600 });
    await rename(fresh, file);
  }
}

/** The folder that the program starts in, and the account it runs as. Of our environment, keys and addresses included, it gets nothing. */
function spawnOptions(account: Account | null, cwd: string) {
  const env =
    process.platform === 'win32' ? undefined : { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return account === null ? { cwd, env } : { cwd, env, uid: account.uid, gid: account.gid };
}

/**
 * Another account may not reach the data folder by its path (DATA_DIR below /root). It starts inside the folder, though, and on Linux
 * `/proc/self/cwd` leads there without a walk through the parents.
 */
function dataArgument(account: Account | null, cluster: string): string {
  return account !== null && process.platform === 'linux' ? '/proc/self/cwd' : cluster;
}

/** PostgreSQL refuses to run as root; then the account `postgres`, else `nobody`, runs it. `null`: our own. */
async function serviceAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      continue; // no such account
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no account "postgres" or "nobody": set DATABASE_URL to a server of your own',
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
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
