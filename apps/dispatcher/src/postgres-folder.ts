import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { dataArgument, spawnOptions } from './postgres-account';
import type { Account } from './postgres-binaries';

const run = promisify(execFile);

const CONNECTION = 'connection.json';

/** How the server of a folder is reached. */
export interface Connection {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Where the server listened last; tried first at the next start. */
  readonly port: number | null;
}

/**
 * The files of one PostgreSQL server.
 *
 * - `connection.json`: user, password, database, last port. Only a server that knows the password is taken for ours.
 * - `cluster/`: PostgreSQL's files. Its `postmaster.pid` says which process serves the folder, on which port, and keeps a second one out.
 * - `postgres.log`: what the server prints.
 */
export class PostgresFolder {
  constructor(private readonly folder: string) {}

  get cluster(): string {
    return path.join(this.folder, 'cluster');
  }

  get pidFile(): string {
    return path.join(this.cluster, 'postmaster.pid');
  }

  get logFile(): string {
    return path.join(this.folder, 'postgres.log');
  }

  private get connectionFile(): string {
    return path.join(this.folder, CONNECTION);
  }

  /**
   * How the server is reached. Its files are made where there are none.
   *
   * @param native folder of PostgreSQL's programs
   * @throws Error when the folder is there and is none of ours
   */
  async connection(account: Account | null, native: string): Promise<Connection> {
    const existing = await this.remembered();
    if (existing !== null) return existing;
    await this.create(account, native);
    const stored = await this.remembered();
    if (stored === null) throw new Error(`${this.folder} is no database of ours: it has no ${CONNECTION}`);
    return stored;
  }

  /** Under another name, which is then renamed: of two at the same time one wins, and half a cluster is none. */
  private async create(account: Account | null, native: string): Promise<void> {
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
      await writeFile(path.join(fresh, CONNECTION), JSON.stringify(connection), { mode: 0o600 });
      await rename(fresh, this.folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }

  /** What `postmaster.pid` says: the process that serves the folder. The file is left behind by a server that was killed. */
  async postmaster(): Promise<{ pid: number; port: number; ready: boolean } | null> {
    const lines = (await readFile(this.pidFile, 'utf8').catch(() => '')).split('\n');
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    if (!(pid > 0) || !(port > 0) || !isAlive(pid)) return null;
    return { pid, port, ready: lines[7]?.trim() === 'ready' };
  }

  /** For the next start. */
  async remember(connection: Connection): Promise<void> {
    const fresh = `${this.connectionFile}.new-${process.pid}`;
    await writeFile(fresh, JSON.stringify(connection), { mode: 0o600 });
    await rename(fresh, this.connectionFile);
  }

  private async remembered(): Promise<Connection | null> {
    const text = await readFile(this.connectionFile, 'utf8').catch(() => null);
    if (text === null) return null;
    try {
      return JSON.parse(text) as Connection;
    } catch (cause) {
      // Not made anew: the password in it is the only one that opens the ledger.
      throw new Error(`${this.connectionFile} is damaged; put it back from a copy`, { cause });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
