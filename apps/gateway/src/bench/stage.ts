import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buckets } from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { ChildProcesses, freePort, listening, messageOf, saidBy } from './child-processes';
import type { Cell, Target } from './cells';
import type { LoadJob, LoadResult } from './load-process';
import { ensurePortkey, portkeyHeaders, portkeyMain } from './portkey';
import { usageOf, type ProcessUsage } from './process-usage';
import type { Sample } from './statistics';

/** What follows an answer in the background is counted to its cell. */
const SETTLE_MS = 150;
const MAX_ROUND_MS = 3_000;

interface RunningTarget {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
}

export interface StageOptions {
  readonly targets: readonly Target[];
  /** Built main file of the gateway. */
  readonly gatewayMain: string;
  readonly nodeOptions: readonly string[];
  readonly natsServer: string;
  readonly say: (text: string) => void;
}

/** Everything that a run needs, each in a process of its own: engine, client, nats-server, gateways. */
export class Stage {
  private readonly children = new ChildProcesses();
  private readonly folder = mkdtempSync(join(tmpdir(), 'hindcast-bench-'));
  private readonly running = new Map<Target, RunningTarget>();
  private engine!: ChildProcess;
  private client!: ChildProcess;
  private nats: { readonly pid: number; readonly connection: NatsConnection } | null = null;

  private constructor(private readonly options: StageOptions) {}

  static async set(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    try {
      await stage.start();
      return stage;
    } catch (error) {
      await stage.clear();
      throw error;
    }
  }

  async clear(): Promise<void> {
    await this.nats?.connection.close();
    await this.children.end();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** One cell of one round. */
  async measure(target: Target, cell: Cell, requests: number, maxMs = MAX_ROUND_MS): Promise<Sample> {
    const { origin, headers, pid } = this.running.get(target)!;
    this.engine.send({ paced: cell.paceMs > 0 });
    await messageOf(this.engine);
    const job: LoadJob = {
      origin,
      headers,
      concurrency: cell.concurrency,
      stream: cell.stream,
      paced: cell.paceMs > 0,
      promptBytes: cell.promptBytes,
      requests,
      maxMs,
    };
    const natsPid = target === 'hindcast' ? this.nats!.pid : null;
    const [before, natsBefore] = [usageOf(pid), natsPid === null ? null : usageOf(natsPid)];
    this.client.send(job);
    const result = await messageOf<LoadResult>(this.client);
    await sleep(SETTLE_MS);
    const [after, natsAfter] = [usageOf(pid), natsPid === null ? null : usageOf(natsPid)];
    return { ...result, cpuMs: spent(before, after), natsCpuMs: spent(natsBefore, natsAfter) };
  }

  rssMb(target: Target): number | null {
    return usageOf(this.running.get(target)!.pid)?.rssMb ?? null;
  }

  /** Frees the disk between rounds; the gateway itself has no more use for what it has stored. */
  async dropCaptures(): Promise<void> {
    if (this.nats) await (await jetstreamManager(this.nats.connection)).streams.purge(`KV_${buckets.captures}`);
  }

  /** Counters of the gateway: what became of its answers. */
  async counters(): Promise<Record<string, number>> {
    const target = this.running.get('hindcast');
    if (!target) return {};
    const text = await (await fetch(`${target.origin}/metrics`)).text();
    const names = ['turns_stored_total', 'uncaptured_total', 'turns_untrainable_total'];
    const sumOf = (name: string): number =>
      text
        .split('\n')
        .filter((line) => line.startsWith(`hindcast_${name}{`))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    return Object.fromEntries(names.map((name) => [name, sumOf(name)]));
  }

  private async start(): Promise<void> {
    const { targets } = this.options;
    this.client = this.children.fork('load-process.js');
    this.engine = this.children.fork('engine-process.js');
    const { port } = await messageOf<{ port: number }>(this.engine);
    const engineUrl = `http://127.0.0.1:${port}`;
    if (targets.includes('direct'))
      this.running.set('direct', { origin: engineUrl, headers: {}, pid: this.engine.pid! });
    if (targets.includes('hindcast')) this.running.set('hindcast', await this.startHindcast(engineUrl));
    if (targets.includes('portkey')) this.running.set('portkey', await this.startPortkey(engineUrl));
  }

  private async startHindcast(engineUrl: string): Promise<RunningTarget> {
    const natsUrl = await this.startNats();
    const output = join(this.folder, 'hindcast.log');
    const child = this.children.spawn(
      process.execPath,
      [...this.options.nodeOptions, this.options.gatewayMain],
      output,
      {
        PORT: '0',
        HOST: '127.0.0.1',
        DATA_DIR: join(this.folder, 'data'),
        NATS_URL: natsUrl,
        POLICY_BASE_URL: `${engineUrl}/v1`,
        POLICY_DIALECT: 'vllm',
        POLICY_MODEL: 'seed',
        API_KEYS: '',
      },
    );
    const port = await saidBy(child, output, (text) => {
      const ready = text.split('\n').find((line) => line.startsWith('{"event":"ready"'));
      return ready ? (JSON.parse(ready) as { port: number }).port : null;
    });
    const origin = `http://127.0.0.1:${port}`;
    const isStoring = async (): Promise<boolean> =>
      JSON.stringify(await (await fetch(`${origin}/readyz`)).json()).includes('"durability":"');
    while (!(await isStoring())) await sleep(100);
    return { origin, headers: {}, pid: child.pid! };
  }

  private async startNats(): Promise<string> {
    const port = await freePort();
    const config = join(this.folder, 'nats.conf');
    const store = join(this.folder, 'jetstream');
    writeFileSync(config, `listen: 127.0.0.1:${port}\nmax_payload: 8388608\njetstream { store_dir: "${store}" }\n`);
    const output = join(this.folder, 'nats.log');
    const child = this.children.spawn(this.options.natsServer, ['-c', config], output);
    await listening(child, output, port);
    this.nats = { pid: child.pid!, connection: await connect({ servers: `nats://127.0.0.1:${port}` }) };
    return `nats://127.0.0.1:${port}`;
  }

  private async startPortkey(engineUrl: string): Promise<RunningTarget> {
    ensurePortkey(this.options.say);
    const port = await freePort();
    const output = join(this.folder, 'portkey.log');
    const child = this.children.spawn(process.execPath, [portkeyMain, `--port=${port}`, '--headless'], output, {
      NODE_ENV: 'production',
    });
    await listening(child, output, port);
    return { origin: `http://127.0.0.1:${port}`, headers: portkeyHeaders(`${engineUrl}/v1`), pid: child.pid! };
  }
}

const spent = (before: ProcessUsage | null, after: ProcessUsage | null): number | null =>
  before && after ? after.cpuMs - before.cpuMs : null;
