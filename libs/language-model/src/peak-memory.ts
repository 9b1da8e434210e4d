import { readFileSync } from 'node:fs';

/** Largest resident memory of this process so far, bytes. The system's own count, where there is no /proc, may begin with the parent's. */
export function peakBytes(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    if (kilobytes) return Number(kilobytes) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}
