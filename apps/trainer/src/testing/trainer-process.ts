import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const REGISTER = join(__dirname, '../../../../libs/platform/src/testing/register.cjs');

/** The trainer in a process of its own, for tests that kill it. */
export interface TrainerProcess {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly waiting: Promise<void>;
  /** Exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals>;
  readonly stderr: () => string;
  /** Lines of the log so far. */
  readonly stdout: () => string;
}

export interface ProcessLimits {
  /** The system refuses to make a file larger than this, KiB. Can be lifted while the process runs. */
  readonly fileKib?: number;
}

export function startTrainerProcess(env: Record<string, string>, { fileKib }: ProcessLimits = {}): TrainerProcess {
  const run = [process.execPath, '-r', REGISTER, join(__dirname, 'trainer-main.ts')];
  const limited = ['bash', '-c', `ulimit -S -f ${fileKib} && exec "$@"`, 'bash', ...run];
  const [command, ...args] = fileKib === undefined ? run : limited;
  const child = spawn(command!, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: Buffer[] = [];
  child.stderr.on('data', (piece: Buffer) => errors.push(piece));
  const output: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => output.push(piece));
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const lines = createInterface({ input: child.stdout });
  const said = (event: string): Promise<void> =>
    new Promise((resolve) => {
      lines.on('line', (line) => {
        if ((JSON.parse(line) as { event: string }).event === event) resolve();
      });
    });
  return {
    child,
    ready: said('ready'),
    waiting: said('waiting'),
    ended: async () => {
      const [code, signal] = await exit;
      return code ?? signal!;
    },
    stderr: () => Buffer.concat(errors).toString(),
    stdout: () => Buffer.concat(output).toString(),
  };
}
