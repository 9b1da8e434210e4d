import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../config';
import { endedPart } from '../core/ended-part';
import type { GatewayKeys } from '../core/gateway-keys';
import { Child } from './child';
import { endPostgres } from './end-postgres';
import { lockFolder } from './folder-lock';
import { startNatsServer } from './nats-server';
import { freeOrAny } from './ports';

/** The apps in the order in which they start; each needs only what stands before it. */
const APPS = ['engine', 'demo-judge', 'dispatcher', 'trainer', 'judge-svc', 'teacher-svc', 'gateway'] as const;
export type App = (typeof APPS)[number];

const DEFAULT_PORTS: Readonly<Record<App | 'nats-server', number>> = {
  'nats-server': 4222,
  engine: 8000,
  'demo-judge': 8001,
  gateway: 8080,
  'judge-svc': 8081,
  'teacher-svc': 8082,
  dispatcher: 8083,
  trainer: 8084,
};

const NO_KEYS: GatewayKeys = { API_KEYS: '', ADMIN_API_KEYS: '', API_KEYS_FILE: '' };

export interface StackOptions {
  /** Repository root: the services' working directory. */
  readonly root: string;
  /** Everything that the stack writes lies below it. Absolute. */
  readonly dataDir: string;
  readonly natsServerBinary: string;
  /** The documented ports where they are free, or any free ones. */
  readonly ports: 'default' | 'any';
  readonly gatewayPort?: number;
  /** Settings for all services. */
  readonly settings: Readonly<Record<string, string>>;
  /** Who may call the gateway; without it everybody on this machine. */
  readonly keys?: GatewayKeys;
  /** One of those keys, for who talks to the gateway from here. */
  readonly apiKey?: string;
  /** Uses this judge in place of the demo judge. */
  readonly judgeBaseUrl?: string;
  readonly onStarted?: (app: App | 'nats-server', started: number, of: number) => void;
}

/** Stacks that have been started in this program and not stopped. */
const live = new Set<Stack>();
/** Kills every process that this program has started. */
export const killEverything = (): void => live.forEach((stack) => stack.killAll());

/** Every process of Hindcast on this machine. */
export class Stack {
  private readonly children: Child[] = [];
  private readonly running = new Map<App, Child>();
  private readonly settings = new Map<App, Record<string, string>>();
  private readonly ports = new Map<App, number>();
  private readonly endedByUs = new Set<Child>();
  private lock: { release(): void } | null = null;

  private constructor(private readonly options: StackOptions) {}

  /** Starts all of it; when one part does not start, ends the others and throws. */
  static async start(options: StackOptions): Promise<Stack> {
    const stack = new Stack(options);
    live.add(stack);
    try {
      await stack.startAll();
      return stack;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  get gatewayUrl(): string {
    return this.url('gateway');
  }
  /** What the gateway knows its callers from here by; undefined where it asks nobody. */
  get apiKey(): string | undefined {
    return this.options.apiKey;
  }
  get asksForKey(): boolean {
    return this.options.keys !== undefined;
  }
  get engineUrl(): string {
    return this.url('engine');
  }
  get policyDir(): string {
    return join(this.options.dataDir, 'policies');
  }
  get logFolder(): string {
    return join(this.options.dataDir, 'logs');
  }

  /** Processes that ended without being asked to, and that nobody has started again from here. */
  ended(): Child[] {
    return this.children.filter((child) => child.ending !== null && !this.endedByUs.has(child));
  }

  /** What a person is told of a process that ended without being asked to. */
  told(child: Child): string {
    const envFile = this.envFile(child.name);
    const again = existsSync(envFile) ? `npm run service -- ${child.name} --env-file ${envFile}` : null;
    return endedPart({ name: child.name, ending: child.ending!, logFile: child.logFile, again });
  }

  /** Tells of each process that ends without being asked to, from now on. */
  onEnded(tell: (text: string) => void): void {
    for (const child of this.children)
      void child.whenEnded().then(() => {
        if (!this.endedByUs.has(child)) tell(this.told(child));
      });
  }

  /** Resolves when the app's process has ended. */
  async whenEnded(app: App): Promise<void> {
    await this.running.get(app)?.whenEnded();
  }

  /** `kill -9`. */
  async kill(app: App): Promise<void> {
    this.running.get(app)?.process.kill('SIGKILL');
    await this.whenEnded(app);
  }

  /** Starts an app again on its port, with its settings and some more. The one that ran before must have ended. */
  async startAgain(app: App, more: Readonly<Record<string, string>> = {}): Promise<void> {
    const before = this.running.get(app);
    if (before) this.endedByUs.add(before);
    await this.launch(app, { ...this.settings.get(app), ...more });
  }

  /** File with an app's environment, for `npm run service -- <app> --env-file FILE`. */
  envFile(app: string): string {
    return join(this.options.dataDir, 'env', `${app}.env`);
  }

  /** Kills everything at once. For a person who cannot wait. */
  killAll(): void {
    for (const child of this.children) {
      this.endedByUs.add(child);
      if (!child.ending) child.process.kill('SIGKILL');
    }
    endPostgres(this.options.dataDir);
  }

  /** Ends everything, last started first. */
  async stop(): Promise<void> {
    for (const child of this.children) this.endedByUs.add(child);
    for (const child of [...this.children].reverse()) await child.stop();
    live.delete(this);
    this.lock?.release();
  }

  private async startAll(): Promise<void> {
    const { options } = this;
    mkdirSync(options.dataDir, { recursive: true });
    this.lock = lockFolder(options.dataDir);
    for (const folder of ['logs', 'env', 'nats']) mkdirSync(join(options.dataDir, folder), { recursive: true });
    const apps = APPS.filter((app) => app !== 'demo-judge' || options.judgeBaseUrl === undefined);
    const port = async (app: App | 'nats-server'): Promise<number> =>
      options.ports === 'any' ? 0 : freeOrAny(DEFAULT_PORTS[app]);

    const nats = await startNatsServer(
      options.natsServerBinary,
      join(options.dataDir, 'nats'),
      await port('nats-server'),
      join(this.logFolder, 'nats-server.log'),
    );
    this.children.push(nats.child);
    options.onStarted?.('nats-server', 1, apps.length + 1);

    for (const [i, app] of apps.entries()) {
      const wished = app === 'gateway' && options.gatewayPort !== undefined ? options.gatewayPort : await port(app);
      await this.startApp(app, wished, nats.url);
      options.onStarted?.(app, i + 2, apps.length + 1);
    }
  }

  private async startApp(app: App, port: number, natsUrl: string): Promise<void> {
    const { options } = this;
    const settings: Record<string, string> = {
      HOST: '127.0.0.1',
      NATS_URL: natsUrl,
      // The stack's own server asks for no user and has no TLS.
      NATS_USER: '',
      NATS_PASSWORD: '',
      NATS_CA_FILE: '',
      DATA_DIR: options.dataDir,
      POLICY_DIR: this.policyDir,
      ...options.settings,
      // Keys are the gateway's alone; without any the stack, which listens on loopback only, is open.
      ...NO_KEYS,
      ...(app === 'gateway' ? options.keys : {}),
      ...(this.ports.has('engine') ? { POLICY_BASE_URL: `${this.engineUrl}/v1` } : {}),
      ...(options.judgeBaseUrl !== undefined
        ? { JUDGE_BASE_URL: options.judgeBaseUrl }
        : this.ports.has('demo-judge')
          ? { JUDGE_BASE_URL: `${this.url('demo-judge')}/v1` }
          : {}),
    };
    const ready = await this.launch(app, { ...settings, PORT: String(port) });
    // With the real port, so that the app can be started again, by hand too, where the others look for it.
    const again = { ...settings, PORT: String(ready) };
    this.ports.set(app, ready);
    this.settings.set(app, again);
    const lines = Object.entries(again).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    writeFileSync(this.envFile(app), `${lines.join('\n')}\n`, { mode: 0o600 });
  }

  /** Resolves with the port of the ready line. */
  private launch(app: App, settings: Record<string, string>): Promise<number> {
    return new Promise((resolve, reject) => {
      const child = Child.start(app, process.execPath, [join('apps', app, 'dist/main.js')], {
        cwd: this.options.root,
        env: { ...environment, ...settings },
        logFile: join(this.logFolder, `${app}.log`),
        onLine: (line) => {
          const port = readyPort(line);
          if (port !== undefined) resolve(port);
        },
      });
      this.children.push(child);
      this.running.set(app, child);
      void child.whenEnded().then(() => {
        const why = child.lastWords.trim();
        reject(
          new Error(
            `${app} ended before it was ready; see ${child.logFile}${
              why === ''
                ? ''
                : `
${why}`
            }`,
          ),
        );
      });
    });
  }

  private url(app: App): string {
    const port = this.ports.get(app);
    if (port === undefined) throw new Error(`${app} has not been started`);
    return `http://127.0.0.1:${port}`;
  }
}

function readyPort(line: string): number | undefined {
  if (!line.includes('"ready"')) return undefined;
  try {
    const event = JSON.parse(line) as { event?: unknown; port?: unknown };
    return event.event === 'ready' && typeof event.port === 'number' ? event.port : undefined;
  } catch {
    return undefined;
  }
}
