import { buckets, contracts, queries, type LedgerStatus } from '@hindcast/contracts';
import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '../config';
import { Child } from '../stack/child';
import { startNatsServer } from '../stack/nats-server';
import type { FakeServer } from './fake-servers';
import { pairedTurn } from './turns';

/** Turns whose three writes are under way at once. */
const WINDOW = 64;
/** Between two looks at the ledger: each costs a count, so they are few until the end is near. */
const FAR_POLL_MS = 1_000;
const NEAR_POLL_MS = 100;
/** Share of the turns that may be open when the end is near. */
const NEAR = 0.15;
const PATIENCE_MS = 300_000;

/** How many turns were decided how fast, and what each process spent on one of them. */
export interface Run {
  readonly turnsPerSecond: number;
  /** User and system time of each process, milliseconds by turn; empty where the system does not say. */
  readonly cpuMsPerTurn: Readonly<Record<string, number>>;
}

export interface StageOptions {
  /** Repository root. */
  readonly root: string;
  readonly judges: number;
  readonly judgeDelayMs: number;
  /** Options of every service's node, e.g. `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
  /** Settings of every service. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * What `npm start` runs between the gateway and the trainer, with its nats-server and its embedded PostgreSQL in a folder of their own:
 * judges, teacher and dispatcher. Judge and teacher engine are fakes.
 */
export class Stage {
  private readonly children: Child[] = [];
  private readonly fakes: ChildProcess[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'hindcast-bench-'));
  private connection: NatsConnection | null = null;
  private decided = 0;

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

  /** Publishes `turns` paired turns as fast as they are taken and waits until each is decided. */
  async run(turns: number): Promise<Run> {
    const js = jetstream(this.connection!);
    const captures = await new Kvm(js).open(buckets.captures);
    // Made beforehand: what makes them is no part of the pipeline.
    const made = Array.from({ length: turns }, madeTurn);
    const before = this.cpu();
    const start = performance.now();
    await this.publish(js, captures, made);
    await this.whenDecided(this.decided + turns);
    const elapsedMs = performance.now() - start;
    const after = this.cpu();
    const spent = Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / turns] as const);
    return { turnsPerSecond: (1000 * turns) / elapsedMs, cpuMsPerTurn: Object.fromEntries(spent) };
  }

  async clear(): Promise<void> {
    await this.connection?.close().catch(() => undefined);
    for (const child of [...this.children].reverse()) await child.stop();
    for (const fake of this.fakes) fake.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async start(): Promise<void> {
    mkdirSync(join(this.folder, 'nats'));
    const nats = await startNatsServer(
      environment['NATS_SERVER_BIN'] ?? 'nats-server',
      join(this.folder, 'nats'),
      0,
      join(this.folder, 'nats-server.log'),
    );
    this.children.push(nats.child);
    const { judges, judgeDelayMs, settings } = this.options;
    const judge = await this.fake({ kind: 'judge', delayMs: judgeDelayMs });
    const engine = await this.fake({ kind: 'engine' });
    const env = {
      NATS_URL: nats.url,
      DATA_DIR: this.folder,
      JUDGE_BASE_URL: `http://127.0.0.1:${judge}/v1`,
      POLICY_BASE_URL: `http://127.0.0.1:${engine}/v1`,
      LOG_LEVEL: 'warn',
      METHOD: 'combine',
      ...settings,
    };
    await this.service('dispatcher', env);
    await this.service('teacher-svc', env);
    for (let i = 0; i < judges; i++) await this.service('judge-svc', env);
    this.connection = await connect({ servers: nats.url });
    await new Kvm(this.connection).create(buckets.captures);
  }

  private async service(app: string, env: Readonly<Record<string, string>>): Promise<void> {
    const log = join(this.folder, `${app}-${this.children.length}.log`);
    await new Promise<void>((resolve, reject) => {
      const child = Child.start(
        app,
        process.execPath,
        [...this.options.nodeOptions, join('apps', app, 'dist/main.js')],
        {
          cwd: this.options.root,
          env: { ...environment, ...env, HOST: '127.0.0.1', PORT: '0' },
          logFile: log,
          onLine: (line) => line.includes('"event":"ready"') && resolve(),
        },
      );
      this.children.push(child);
      void child.whenEnded().then(() => reject(new Error(`${app} ended before it was ready: ${child.lastWords}`)));
    });
  }

  private async fake(server: FakeServer): Promise<number> {
    const fake = fork(join(__dirname, 'fake-servers.js'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.fakes.push(fake);
    fake.send(server);
    const [{ port }] = (await once(fake, 'message')) as [{ port: number }];
    return port;
  }

  private async publish(js: JetStreamClient, captures: KV, turns: readonly MadeTurn[]): Promise<void> {
    let next = 0;
    const one = async (): Promise<void> => {
      for (let turn = turns[next++]; turn; turn = turns[next++]) {
        const { turnId, capture, messages } = turn;
        await captures.put(turnId, capture);
        await Promise.all(
          messages.map(({ subject, payload }) => js.publish(subject, payload, { msgID: `${subject}.${turnId}` })),
        );
      }
    };
    await Promise.all(Array.from({ length: WINDOW }, one));
  }

  private async whenDecided(turns: number): Promise<void> {
    const before = this.decided;
    const isNear = (): boolean => turns - this.decided <= NEAR * (turns - before);
    for (
      const deadline = Date.now() + PATIENCE_MS;
      Date.now() < deadline;
      await sleep(isNear() ? NEAR_POLL_MS : FAR_POLL_MS)
    ) {
      const ended = this.children.find((child) => child.ending !== null);
      if (ended)
        throw new Error(
          `${ended.name} ended (${ended.ending!.signal ?? ended.ending!.code}): ${this.lastLines(ended.name)}`,
        );
      const { cases } = await this.status();
      this.decided = cases.opdRl + cases.opd + cases.rl + cases.drop;
      if (this.decided >= turns) {
        if (cases.opdRl < turns) throw new Error(`not every turn has both signals: ${JSON.stringify(cases)}`);
        return;
      }
    }
    throw new Error(`only ${this.decided} of ${turns} turns were decided`);
  }

  private async status(): Promise<LedgerStatus> {
    const reply = await this.connection!.request(queries.status.subject, JSON.stringify({ tenant: null }), {
      timeout: 10_000,
    });
    const status = queries.status.reply.safeParse(reply.json());
    if (!status.success) throw new Error(`the ledger does not say how it stands: ${this.lastLines('dispatcher')}`);
    return status.data;
  }

  private lastLines(app: string): string {
    const child = this.children.find(({ name }) => name === app);
    return child ? readFileSync(child.logFile, 'utf8').slice(-2_000) : '';
  }

  /** CPU of every process so far, ms, by name. Empty where /proc does not say. */
  private cpu(): Record<string, number> {
    const processes: [string, number | undefined][] = [
      ...this.children.map((child): [string, number | undefined] => [child.name, child.pid]),
      ['fake judge', this.fakes[0]!.pid],
      ['fake engine', this.fakes[1]!.pid],
      ['publisher', process.pid],
    ];
    const spent: Record<string, number> = {};
    for (const [name, pid] of processes) spent[name] = (spent[name] ?? 0) + cpuMs(`/proc/${pid}/stat`);
    const postgres = postgresPids(this.folder).reduce((sum, pid) => sum + cpuMs(`/proc/${pid}/stat`), 0);
    return postgres > 0 ? { ...spent, postgres } : {};
  }
}

/** A turn as the bytes that the gateway sends. */
interface MadeTurn {
  readonly turnId: string;
  readonly capture: Uint8Array;
  readonly messages: readonly { readonly subject: string; readonly payload: Uint8Array }[];
}

function madeTurn(): MadeTurn {
  const { turnId, capture, captured, paired } = pairedTurn();
  const message = (subject: string, body: unknown): MadeTurn['messages'][number] => ({
    subject,
    payload: Buffer.from(JSON.stringify({ v: 1, turnId, tenant: 'default', at: Date.now(), body })),
  });
  const messages = [message(contracts.turnCaptured.subject, captured), message(contracts.turnPaired.subject, paired)];
  return { turnId, capture, messages };
}

/** Clock ticks of /proc a second: the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** User and system time; of a PostgreSQL server also that of its children that have ended. 0 where there is no such file. */
function cpuMs(statFile: string): number {
  try {
    const stat = readFileSync(statFile, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** The embedded server and its children. */
function postgresPids(folder: string): number[] {
  try {
    const [server] = readFileSync(join(folder, 'postgres/cluster/postmaster.pid'), 'latin1').split('\n');
    const children = readFileSync(`/proc/${server}/task/${server}/children`, 'latin1').trim().split(' ');
    return [server, ...children].map(Number).filter((pid) => pid > 0);
  } catch {
    return [];
  }
}
