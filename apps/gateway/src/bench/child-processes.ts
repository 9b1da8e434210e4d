import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS = 30_000;

/** Processes of one run; they end with it. */
export class ChildProcesses {
  private readonly running: ChildProcess[] = [];

  /** A process of the benchmark's own, spoken with over IPC. */
  fork(file: string): ChildProcess {
    return this.kept(fork(join(__dirname, file), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
  }

  /** Any other program; both of its outputs go to a file, as a container's do. */
  spawn(command: string, args: readonly string[], outputPath: string, env: Record<string, string> = {}): ChildProcess {
    const output = openSync(outputPath, 'w');
    try {
      // eslint-disable-next-line no-restricted-properties -- the child gets the caller's environment, as from a shell
      return this.kept(spawn(command, args, { stdio: ['ignore', output, output], env: { ...process.env, ...env } }));
    } finally {
      closeSync(output);
    }
  }

  /** The last started first. */
  async end(): Promise<void> {
    for (const child of this.running.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.race([gone, sleep(5_000, undefined, { ref: false })]);
      child.kill('SIGKILL');
    }
  }

  private kept(child: ChildProcess): ChildProcess {
    // A program that cannot be started is noticed by who waits for it.
    child.on('error', () => undefined);
    this.running.push(child);
    return child;
  }
}

/** The next message of a forked process. @throws when it ends before. */
export async function messageOf<T>(child: ChildProcess): Promise<T> {
  const leave = new AbortController();
  try {
    const ended = once(child, 'exit', leave).then(([code, signal]) => {
      throw new Error(`a process of the benchmark ended with ${code ?? signal}`);
    });
    return (await Promise.race([once(child, 'message', leave), ended]))[0] as T;
  } finally {
    leave.abort();
  }
}

/** Waits for what `find` finds in a program's output. @throws when the program ends or takes too long, with what it said. */
export async function saidBy<T>(
  child: ChildProcess,
  outputPath: string,
  find: (output: string) => T | null,
): Promise<T> {
  for (const deadline = Date.now() + START_MS; ; await sleep(50)) {
    const output = readFileSync(outputPath, 'utf8');
    const found = find(output);
    if (found !== null) return found;
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
      throw new Error(`${child.spawnfile} did not start:\n${output.slice(-2_000)}`);
  }
}

/** Waits until a port takes connections. */
export async function listening(child: ChildProcess, outputPath: string, port: number): Promise<void> {
  let isOpen = false;
  const socket = (): void => {
    const probe = connect(port, '127.0.0.1')
      .on('connect', () => {
        isOpen = true;
        probe.destroy();
      })
      .on('error', () => undefined);
  };
  await saidBy(child, outputPath, () => {
    if (!isOpen) socket();
    return isOpen ? true : null;
  });
}

/** A port that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
