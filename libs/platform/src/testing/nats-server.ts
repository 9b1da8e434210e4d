import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
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
  let port = options.port ?? (await freePort());
  // By it the server is told from another one that got the port first.
  const name = randomUUID();
  let generation = 0;
  const configure = (): string => {
    const file = join(folder, 'nats.conf');
    writeFileSync(
      file,
      [
        `listen: 127.0.0.1:${port}`,
        `server_name: "${name}"`,
        `max_payload: ${options.maxPayload ?? 8_388_608}`,
        options.jetStream === false ? '' : `jetstream { store_dir: "${join(folder, String(generation))}" }`,
        options.more?.() ?? '',
      ].join('\n'),
    );
    return file;
  };
  const start = (): Promise<ChildProcess> => launch(configure(), port, name);
  let child: ChildProcess;
  for (;;) {
    try {
      child = await start();
      break;
    } catch (error) {
      if (!(error instanceof PortTaken) || options.port !== undefined) throw error;
      port = await freePort();
    }
  }
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
      child = await start();
    },
  };
}

/** Below those that systems give to connections and to whoever asks for any port, so that none of them takes it meanwhile. */
const PORTS = { first: 20_000, end: 32_000 };

/** A port that nothing listens on at this moment, and nobody takes who does not ask for just that one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

class PortTaken extends Error {}

async function launch(config: string, port: number, name: string): Promise<ChildProcess> {
  const child = spawn('nats-server', ['-c', config], { stdio: 'ignore' });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  for (;;) {
    const greeting = await Promise.race([greetingOf(port), failed]);
    if (greeting?.includes(`"${name}"`)) return child;
    if (child.exitCode !== null && greeting !== null) throw new PortTaken(`another server has the port ${port}`);
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
    await sleep(20);
  }
}

/** What a server says to whoever connects; `null` where nobody listens. */
async function greetingOf(port: number): Promise<string | null> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    return greeting.toString();
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}
