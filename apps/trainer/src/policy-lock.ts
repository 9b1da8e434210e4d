import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';

const HEARTBEAT_MS = 10_000;
/** A holder on another machine is taken for dead when its lock was not touched for this long. */
const FOREIGN_STALE_MS = 60_000;
/** What the system says of a folder that cannot be written, as against a disk that is full for now. */
const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR']);

const Holder = z.object({ pid: z.int(), host: z.string(), processStart: z.string().nullable(), token: z.string() });
type Holder = z.infer<typeof Holder>;

/**
 * One trainer per `POLICY_DIR`: two would train turns twice and write the same versions. The lock is a file that is linked into
 * place, and so there whole or not at all. It survives `kill -9`: a lock whose process is gone is taken over.
 */
export class PolicyLock {
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(
    private readonly path: string,
    private readonly token: string,
  ) {
    this.heartbeat = setInterval(() => void this.touch(), HEARTBEAT_MS).unref();
  }

  /** Makes the folder where there is none, and takes its lock. @throws HindcastError `config-invalid`, also for one that cannot be written */
  static async take(folder: string): Promise<PolicyLock> {
    try {
      await mkdir(folder, { recursive: true });
      return await PolicyLock.acquire(folder);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined || !UNWRITABLE.has(code)) throw error;
      throw new HindcastError('config-invalid', `POLICY_DIR: ${message}`, { cause: error });
    }
  }

  /** @throws HindcastError `config-invalid` when a living trainer holds the folder */
  static async acquire(folder: string): Promise<PolicyLock> {
    const path = join(folder, 'trainer.lock');
    const holder: Holder = {
      pid: process.pid,
      host: hostname(),
      processStart: processStart(process.pid),
      token: randomUUID(),
    };
    const own = join(folder, `.trainer.lock.${holder.token}.tmp`);
    await writeFile(own, JSON.stringify(holder));
    try {
      while (!(await linked(own, path))) await removeIfDead(folder, path);
    } finally {
      await rm(own, { force: true });
    }
    return new PolicyLock(path, holder.token);
  }

  /** Whether a living trainer holds the folder. */
  static async isHeld(folder: string): Promise<boolean> {
    const path = join(folder, 'trainer.lock');
    const holder = await readHolder(path);
    return holder !== null && (await isAlive(holder, path));
  }

  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    if ((await readHolder(this.path))?.token === this.token) await rm(this.path, { force: true });
  }

  private async touch(): Promise<void> {
    const now = new Date();
    // The folder may be gone at shutdown; a missed heartbeat is made up for by the next one.
    await utimes(this.path, now, now).catch(() => undefined);
  }
}

async function linked(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function removeIfDead(folder: string, path: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder && (await isAlive(holder, path))) throw held(folder, holder);
  // Two trainers may find the same dead lock: whoever moves it must look at what it moved before throwing it away.
  const moved = join(folder, `.trainer.lock.${randomUUID()}.dead`);
  try {
    await rename(path, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const taken = await readHolder(moved);
  if (taken && taken.token !== holder?.token) {
    await link(moved, path).catch(() => undefined);
    await rm(moved, { force: true });
    throw held(folder, taken);
  }
  await rm(moved, { force: true });
}

function held(folder: string, holder: Holder): HindcastError {
  return new HindcastError(
    'config-invalid',
    `another trainer (process ${holder.pid} on ${holder.host}) works in ${folder}; one POLICY_DIR has one trainer`,
  );
}

async function isAlive(holder: Holder, path: string): Promise<boolean> {
  if (holder.host !== hostname()) {
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
    return Date.now() - mtimeMs < FOREIGN_STALE_MS;
  }
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // A process of another user exists all the same.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // Numbers of processes are used again, after a reboot at the latest; the time of the start tells them apart.
  const start = processStart(holder.pid);
  return start === null || holder.processStart === null || start === holder.processStart;
}

/** When a process started, in ticks since boot; `null` where /proc does not say. */
function processStart(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name, in parentheses, and may hold anything; the start time is the twentieth after it.
    return fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    return Holder.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return null;
  }
}
