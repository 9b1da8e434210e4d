import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A gateway in a process of its own, for tests that kill it. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** What it printed so far: log lines, and the line that says it is ready. */
  readonly lines: readonly string[];
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

const REGISTER = join(__dirname, '../../../../libs/platform/src/testing/register.cjs');

export async function startGatewayProcess(env: Record<string, string>): Promise<GatewayProcess> {
  const child = spawn(process.execPath, ['-r', REGISTER, join(__dirname, '../main.ts')], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const lines: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      const said = JSON.parse(line) as { event: string; port: number };
      if (said.event === 'ready') resolve(said.port);
    });
    void ended.then((end) => reject(new Error(`the gateway ended with ${end}`)));
  });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, lines, kill: (signal) => void child.kill(signal), ended };
}
