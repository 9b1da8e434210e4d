import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Account } from './postgres-binaries';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root; then the account `postgres`, else `nobody`, runs it. `null`: our own. */
export async function serviceAccount(): Promise<Account | null> {
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

/** The folder that the program starts in, and the account it runs as. Of our environment, keys and addresses included, it gets nothing. */
export function spawnOptions(account: Account | null, cwd: string) {
  const env =
    process.platform === 'win32' ? undefined : { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return account === null ? { cwd, env } : { cwd, env, uid: account.uid, gid: account.gid };
}

/**
 * Another account may not reach the data folder by its path (DATA_DIR below /root). It starts inside the folder, though, and on Linux
 * `/proc/self/cwd` leads there without a walk through the parents.
 */
export function dataArgument(account: Account | null, cluster: string): string {
  return account !== null && process.platform === 'linux' ? '/proc/self/cwd' : cluster;
}
