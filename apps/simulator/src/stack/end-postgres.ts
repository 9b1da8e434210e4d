import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends the dispatcher's own PostgreSQL in a data folder, if one runs: it is a process that outlives a dispatcher that is killed. */
export function endPostgres(dataDir: string): void {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]);
    // Fast shutdown: open connections are cut, what was confirmed is on disk.
    if (pid > 0 && isPostgres(pid)) process.kill(pid, 'SIGINT');
  } catch {
    // There is none, or it has ended meanwhile.
  }
}

/** The number in the file may be some other process's by now. */
const isPostgres = (pid: number): boolean =>
  (process.platform === 'linux'
    ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  ).includes('postgres');
