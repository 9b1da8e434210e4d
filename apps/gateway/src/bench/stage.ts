import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buckets } from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { BARE_STREAM } from './bare-stream';
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
  /** It writes to the nats-server. */
  readonly stores: boolean;
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
  private nats: { readonly url: string; readonly pid: number; readonly connection: NatsConnection } | null = null;

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
    const { origin, headers, pid, stores } = this.running.get(target)!;
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
    const meters = [pid, stores ? this.nats!.pid : null, this.client.pid!, this.engine.pid!].map(cpuMeter);
    this.client.send(job);
    const result = await messageOf<LoadResult>(this.client);
    await sleep(SETTLE_MS);
    const [cpuMs, natsCpuMs, clientCpuMs, engineCpuMs] = meters.map((spent) => spent()) as [Cpu, Cpu, Cpu, Cpu];
    return { ...result, cpuMs, natsCpuMs, clientCpuMs, engineCpuMs };
  }

  rssMb(target: Target): number | null {
    return usageOf(this.running.get(target)!.pid)?.rssMb ?? null;
  }

  /** Frees the disk between rounds; the gateway itself has no more use for what it has stored. */
  async dropCaptures(): Promise<void> {
    if (!this.nats) return;
    const { streams } = await jetstreamManager(this.nats.connection);
    for (const [target, stream] of [
      ['hindcast', `KV_${buckets.captures}`],
      ['bare-stored', BARE_STREAM],
    ] as const)
      if (this.running.has(target)) await streams.purge(stream);
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
      this.running.set('direct', { origin: engineUrl, headers: {}, pid: this.engine.pid!, stores: false });
    if (targets.includes('hindcast')) this.running.set('hindcast', await this.startHindcast(engineUrl));
    if (targets.includes('portkey')) this.running.set('portkey', await this.startPortkey(engineUrl));
    if (targets.includes('bare')) this.running.set('bare', await this.startBare(engineUrl, null));
    if (targets.includes('bare-stored'))
      this.running.set('bare-stored', await this.startBare(engineUrl, await this.startNats()));
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
    return { origin, headers: {}, pid: child.pid!, stores: true };
  }

  /** @param natsUrl where it stores every answer; `null`: nowhere */
  private async startBare(engineUrl: string, natsUrl: string | null): Promise<RunningTarget> {
    const child = this.children.fork('bare-process.js');
    child.send({ engineUrl, natsUrl });
    const { port } = await messageOf<{ port: number }>(child);
    return { origin: `http://127.0.0.1:${port}`, headers: {}, pid: child.pid!, stores: natsUrl !== null };
  }

  /** One for all that store; they are measured in turn. */
  private async startNats(): Promise<string> {
    if (this.nats) return this.nats.url;
    const port = await freePort();
    const config = join(this.folder, 'nats.conf');
    const store = join(this.folder, 'jetstream');
    writeFileSync(config, `listen: 127.0.0.1:${port}\nmax_payload: 8388608\njetstream { store_dir: "${store}" }\n`);
    const output = join(this.folder, 'nats.log');
    const child = this.children.spawn(this.options.natsServer, ['-c', config], output);
    await listening(child, output, port);
    const url = `nats://127.0.0.1:${port}`;
    this.nats = { url, pid: child.pid!, connection: await connect({ servers: url }) };
    return url;
  }

  private async startPortkey(engineUrl: string): Promise<RunningTarget> {
    ensurePortkey(this.options.say);
    const port = await freePort();
    const output = join(this.folder, 'portkey.log');
    const child = this.children.spawn(process.execPath, [portkeyMain, `--port=${port}`, '--headless'], output, {
      NODE_ENV: 'production',
    });
    await listening(child, output, port);
    const headers = portkeyHeaders(`${engineUrl}/v1`);
    return { origin: `http://127.0.0.1:${port}`, headers, pid: child.pid!, stores: false };
  }
}

/** Milliseconds; `null` where the system does not say, or there is no such process. */
type Cpu = number | null;

/** What a process spends from now on. */
function cpuMeter(pid: number | null): () => Cpu {
  const usage = (): ProcessUsage | null => (pid === null ? null : usageOf(pid));
  const before = usage();
  return () => {
    const after = usage();
    return before && after ? after.cpuMs - before.cpuMs : null;
  };
}
