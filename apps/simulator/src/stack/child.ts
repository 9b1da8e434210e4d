import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a child process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Characters of standard error that are kept. */
const LAST_WORDS = 1_000;

/** One process that this program started, with its output in a log file. */
export class Child {
  ending: Ending | null = null;
  /** The last of what it wrote to standard error: what it says about its own end. */
  lastWords = '';
  private readonly ended: Promise<void>;

  private constructor(
    readonly name: string,
    readonly process: ChildProcess,
    readonly logFile: string,
  ) {
    process.stderr?.on(
      'data',
      (chunk: Buffer) => (this.lastWords = (this.lastWords + chunk.toString()).slice(-LAST_WORDS)),
    );
    this.ended = once(process, 'exit').then(([code, signal]) => {
      this.ending = { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
  }

  /**
   * Starts a process in a group of its own, so that Ctrl-C reaches only this program, which then ends the others in order.
   * @param onLine called with each line of standard output
   */
  static start(
    name: string,
    command: string,
    args: readonly string[],
    options: {
      readonly cwd: string;
      readonly env: NodeJS.ProcessEnv;
      readonly logFile: string;
      readonly onLine?: (line: string) => void;
    },
  ): Child {
    const process = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const log = createWriteStream(options.logFile, { flags: 'a' });
    process.stderr.pipe(log, { end: false });
    createInterface({ input: process.stdout }).on('line', (line) => {
      log.write(`${line}\n`);
      options.onLine?.(line);
    });
    process.on('error', (error) => log.write(`${name} could not be started: ${error.message}\n`));
    return new Child(name, process, options.logFile);
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Resolves when the process has ended. */
  async whenEnded(): Promise<void> {
    await this.ended;
  }

  /** Asks it to end and waits; after `graceMs` it is killed. */
  async stop(graceMs = 10_000): Promise<void> {
    if (this.ending) return;
    this.process.kill('SIGTERM');
    const timer = new AbortController();
    await Promise.race([this.ended, sleep(graceMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    if (this.ending) return;
    this.process.kill('SIGKILL');
    await this.ended;
  }
}
