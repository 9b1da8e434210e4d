import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Clock ticks of /proc a second: the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface ProcessUsage {
  /** CPU that the process has used so far, all its threads, milliseconds. */
  readonly cpuMs: number;
  readonly rssMb: number;
}

/** `null` where the system does not say, or the process is gone. */
export function usageOf(pid: number): ProcessUsage | null {
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return null;
  }
}

function fromProc(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in parentheses may hold anything; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const rssKb = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]);
  return { cpuMs: (ticks * 1000) / TICKS_PER_SECOND, rssMb: rssKb / 1024 };
}

/** macOS: the time is minutes and seconds. */
function fromPs(pid: number): ProcessUsage {
  const output = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], { encoding: 'utf8' });
  const [time, rssKb] = output.trim().split(/\s+/);
  const seconds = time!.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuMs: seconds * 1000, rssMb: Number(rssKb) / 1024 };
}
