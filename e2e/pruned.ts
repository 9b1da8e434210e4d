import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const root = join(__dirname, '..');
const tool = join(root, 'tools/image/main.mjs');

/** Folders of one deployment: each image has its own data, all share the versions of the policy. */
export interface Places {
  /** Pruned folders, one for each image. */
  readonly images: string;
  readonly data: string;
  readonly policies: string;
}

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run image -- …` to its end. */
export async function image(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [tool, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  return { status, stdout, stderr };
}

const argumentsOf = (name: string, places: Places): string[] => [
  'start',
  `--app=${name}`,
  `--from=${join(places.images, name)}`,
  `--data=${join(places.data, name)}`,
  `--policies=${places.policies}`,
  `--models=${join(root, 'models')}`,
];
const variables = (env: Readonly<Record<string, string>>): string[] => [
  '--',
  ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
];

/** Runs one file of a pruned folder to its end. */
export function runPruned(
  name: string,
  places: Places,
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const more = args.length > 0 ? ['--args', ...args] : [];
  return image(...argumentsOf(name, places), `--file=${file}`, ...more, ...variables(env));
}

/** A service that runs out of a pruned folder as its image would run it. */
export class PrunedService {
  port = 0;
  /** The last of its output. */
  output = '';

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {}

  /** Resolves when it has said that it is ready. */
  static async start(name: string, places: Places, env: Readonly<Record<string, string>>): Promise<PrunedService> {
    const child = spawn(process.execPath, [tool, ...argumentsOf(name, places), ...variables({ PORT: '0', ...env })], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = new PrunedService(name, child);
    const keep = (text: string): void => void (service.output = (service.output + text).slice(-4_000));
    child.stderr.on('data', (chunk: Buffer) => keep(chunk.toString()));
    service.port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        keep(`${line}\n`);
        if (line.startsWith('{"event":"ready"')) resolve((JSON.parse(line) as { port: number }).port);
      });
      child.once('exit', () => reject(new Error(`${name} ended before it was ready:\n${service.output}`)));
    });
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Status of a path, and what it answered. */
  async get(path: string): Promise<{ status: number; body: string }> {
    const response = await fetch(`${this.url}${path}`);
    return { status: response.status, body: await response.text() };
  }

  /** What the kernel says about the process: account, rights, and how the root and /app are mounted. */
  kernelView(): { uids: string; capabilities: string; noNewPrivileges: string; isFirst: boolean; mounts: string } {
    const pid = this.servicePid();
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
    return {
      uids: field('Uid'),
      capabilities: field('CapEff'),
      noNewPrivileges: field('NoNewPrivs'),
      isFirst: field('NSpid').endsWith('\t1'),
      mounts: readFileSync(`/proc/${pid}/mountinfo`, 'utf8'),
    };
  }

  /** SIGTERM; resolves with its exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    return ((await ended) as [number | null])[0];
  }

  /** tool → unshare → service. */
  private servicePid(): number {
    const childOf = (pid: number): number =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
    return childOf(childOf(this.child.pid!));
  }
}
