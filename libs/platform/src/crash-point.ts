/** Steps after which a crash must lose nothing. */
export type CrashPoint =
  'after-capture-put' | 'after-claim' | 'after-commit' | 'before-ack' | 'after-rename' | 'after-trained' | 'after-load';

/** Kills this process with SIGKILL when `CRASH_AT` names the step: crash tests place the crash exactly there. */
export function crashPoint(name: CrashPoint): void {
  if (process.env['CRASH_AT']?.split(',').includes(name)) process.kill(process.pid, 'SIGKILL');
}
