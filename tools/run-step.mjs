import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const GRACE_MS = 5_000;
const SAID_EVERY_MS = 15_000;

/**
 * Runs one command of the preparation, whose output goes to standard error, and resolves with its exit status. A signal to this process ends
 * the command with everything that it started, and then this process.
 * @param onWaiting called now and then with the seconds that it has taken so far
 */
export function runStep(command, args, { cwd, onWaiting = () => undefined }) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(command, args, { cwd, stdio: ['ignore', 2, 2], detached: process.platform !== 'win32' });
    const timer = setInterval(() => onWaiting(Math.round((performance.now() - start) / 1000)), SAID_EVERY_MS);
    let endedBy = null;
    const end = (signal) => {
      // Whoever asks twice does not want to wait.
      killGroup(child, endedBy === null ? 'SIGTERM' : 'SIGKILL');
      endedBy ??= signal;
      setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS).unref();
    };
    for (const signal of SIGNALS) process.on(signal, end);
    const forget = () => {
      clearInterval(timer);
      for (const signal of SIGNALS) process.off(signal, end);
    };
    child.once('error', (error) => {
      forget();
      reject(error);
    });
    child.once('exit', (code) => {
      forget();
      if (endedBy === null) return resolve(code ?? 1);
      killGroup(child, 'SIGKILL');
      process.exit(128 + constants.signals[endedBy]);
    });
  });
}

/** What npm starts are processes of its own, which go on when it alone is ended. */
function killGroup(child, signal) {
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // All of it has ended.
  }
}
