/** Steps after which a crash must lose nothing. */
export type CrashPoint =
  'after-capture-put' | 'after-claim' | 'after-commit' | 'before-ack' | 'after-rename' | 'after-trained' | 'after-load';

// Read once: to look into the environment takes as long as what stands around a step.
const crashAt = new Set(process.env['CRASH_AT']?.split(','));

/** Kills this process with SIGKILL when `CRASH_AT` names the step: crash tests place the crash exactly there. */
export function crashPoint(name: CrashPoint): void {
  if (crashAt.has(name)) process.kill(process.pid, 'SIGKILL');
}
