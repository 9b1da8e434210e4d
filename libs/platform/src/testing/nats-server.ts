import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends the server and removes its store. */
  stop(): Promise<void>;
  /** `kill -9`; the store stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port: with its store, or with an empty one. */
  restart(options?: { empty?: boolean }): Promise<void>;
}

/**
 * A real nats-server with JetStream on a free port, `max_payload` 8 MiB unless another is named, its store in a temporary folder.
 *
 * @param options `jetStream`: false starts it without; `more`: further lines of its configuration file, asked for at each start
 */
export async function startNatsServer(
  options: { port?: number; maxPayload?: number; jetStream?: boolean; more?: () => string } = {},
): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-nats-'));
  const port = options.port ?? (await freePort());
  let generation = 0;
  const configure = (): string => {
    const file = join(folder, 'nats.conf');
    writeFileSync(
      file,
      [
        `listen: 127.0.0.1:${port}`,
        `max_payload: ${options.maxPayload ?? 8_388_608}`,
        options.jetStream === false ? '' : `jetstream { store_dir: "${join(folder, String(generation))}" }`,
        options.more?.() ?? '',
      ].join('\n'),
    );
    return file;
  };
  let child = await launch(configure(), port);
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid!;
    },
    stop: async () => {
      await kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
    kill: () => kill('SIGKILL'),
    restart: async ({ empty = false } = {}) => {
      await kill('SIGKILL');
      if (empty) generation++;
      child = await launch(configure(), port);
    },
  };
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

async function launch(config: string, port: number): Promise<ChildProcess> {
  const child = spawn('nats-server', ['-c', config], { stdio: 'ignore' });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  while (!(await Promise.race([answers(port), failed]))) {
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
    await sleep(20);
  }
  return child;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'data');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
