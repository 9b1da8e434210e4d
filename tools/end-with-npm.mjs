import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';

const POLL_MS = 500;

/**
 * Under npm this process is the child of a shell, which a signal to npm ends without passing it on. When the shell is gone, this process
 * gets the signal after all.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, POLL_MS);
  timer.unref();
}
