import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from './until';

export interface WorkerLine {
  readonly event: string;
  readonly turnId?: string;
  readonly deliveries?: number;
  readonly port?: number;
}

/** `worker.ts` in a process of its own, and the lines it has said so far. */
export interface Worker {
  readonly child: ChildProcess;
  readonly lines: readonly WorkerLine[];
  /** Waits for a line. */
  said(event: string, turnId?: string): Promise<void>;
  /** Waits for the end; the exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals>;
}

export function startWorker(natsUrl: string, env: Record<string, string> = {}): Worker {
  const child = spawn(process.execPath, ['-r', join(__dirname, 'register.cjs'), join(__dirname, 'worker.ts')], {
    env: { ...process.env, NATS_URL: natsUrl, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: WorkerLine[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as WorkerLine));
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    lines,
    said: (event, turnId) =>
      until(() => lines.some((line) => line.event === event && (turnId === undefined || line.turnId === turnId))),
    ended: async () => {
      const [code, signal] = await exit;
      return code ?? signal!;
    },
  };
}
