import { execFileSync } from 'node:child_process';

/** What ends this process ends its child in its place, each signal once. */
export function passSignals(child) {
  process.on('SIGINT', () => {
    if (!hasTerminal()) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
}

/** A terminal sends Ctrl-C to all of its foreground group, the child included; a second one would end it at once. */
function hasTerminal() {
  try {
    const ids = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
    const [group, foreground] = ids.trim().split(/\s+/);
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}
