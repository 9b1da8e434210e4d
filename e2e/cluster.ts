import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '../apps/dispatcher/src/testing/postgres';
import { demoPreset } from '../apps/simulator/src/stack/preset';
import { makeAuthority } from '../libs/platform/src/testing/authority';
import { startNatsServer } from '../libs/platform/src/testing/nats-server';
import { Replica } from './replica';

const root = resolve(__dirname, '..');
const NATS_USER = { NATS_USER: 'hindcast', NATS_PASSWORD: 'correct horse' };

/** Replicas that are started of each app; each needs only what stands before it. */
const SIZES = {
  engine: 1,
  'demo-judge': 1,
  dispatcher: 2,
  trainer: 1,
  'judge-svc': 4,
  'teacher-svc': 2,
  gateway: 2,
} as const;
export type App = keyof typeof SIZES;
type Settings = Readonly<Partial<Record<App, Readonly<Record<string, string>>>>>;

/**
 * What a production cluster runs, as processes of this machine: several replicas of each service with folders of their own, one NATS with
 * users and TLS, one PostgreSQL.
 */
export class Cluster {
  readonly replicas: Replica[] = [];
  private databaseUrl = '';
  private readonly cleanUp: (() => Promise<unknown> | void)[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'hindcast-cluster-'));

  /** @param settings of single apps, beyond the demo's */
  static async start(settings: Settings): Promise<Cluster> {
    const cluster = new Cluster();
    try {
      await cluster.startAll(settings);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  of(app: App): Replica[] {
    return this.replicas.filter((replica) => replica.app === app);
  }

  get policyDir(): string {
    return join(this.folder, 'policies');
  }

  /** The ledger's rows of turns that ended in another way than these, with what the gateways logged of them and of their sessions. */
  async turnsNot(...endings: string[]): Promise<object[]> {
    const database = new Client({ connectionString: this.databaseUrl });
    await database.connect();
    try {
      const { rows } = await database.query<{ id: string; sessionId: string | null }>(
        'SELECT id, "sessionId", ending, closed, "closedDetail", "deadLetter", "createdAt" FROM turns WHERE ending::text <> ALL($1) LIMIT 10',
        [endings],
      );
      return rows.map((row) => ({
        ...row,
        logged: this.of('gateway').flatMap((gateway) => gateway.linesAbout(row.id, row.sessionId ?? row.id)),
      }));
    } finally {
      await database.end();
    }
  }

  /** Ends everything and removes its data. */
  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    for (const step of this.cleanUp.reverse()) await step();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async startAll(settings: Settings): Promise<void> {
    const { caFile, certFile, keyFile } = makeAuthority(this.folder, 'cluster');
    const { NATS_USER: user, NATS_PASSWORD: password } = NATS_USER;
    const nats = await startNatsServer({
      more: () =>
        [
          `authorization { users = [{ user: "${user}", password: "${password}" }] }`,
          `tls { cert_file: "${certFile}", key_file: "${keyFile}", timeout: 10 }`,
        ].join('\n'),
    });
    this.cleanUp.push(() => nats.stop());
    const postgres = await startPostgres();
    this.cleanUp.push(() => postgres.stop());
    this.databaseUrl = await postgres.createDatabase();
    const env: Record<string, string> = {
      ...demoPreset,
      MODEL_DIR: join(root, 'models/seed'),
      POLICY_DIR: this.policyDir,
      POLICY_MODEL: 'seed',
      SERVED_MODEL_NAME: 'seed',
      DEMO_JUDGE_NOISE: 'explicit',
      DEMO_JUDGE_SEED: '1',
      NATS_URL: `tls://localhost:${nats.port}`,
      NATS_CA_FILE: caFile,
      ...NATS_USER,
      DATABASE_URL: this.databaseUrl,
      // The same for all gateways: one's sessions are the other's.
      SESSION_SECRET: 'one for all gateways',
      API_KEYS: '',
      ADMIN_API_KEYS: '',
      API_KEYS_FILE: '',
    };
    for (const [app, size] of Object.entries(SIZES) as [App, number][]) {
      const replicas = Array.from({ length: size }, (_, index) =>
        this.replica(app, index, { ...env, ...settings[app] }),
      );
      await Promise.all(replicas.map((replica) => replica.start()));
      if (app === 'engine') env['POLICY_BASE_URL'] = `${replicas[0]!.url}/v1`;
      if (app === 'demo-judge') env['JUDGE_BASE_URL'] = `${replicas[0]!.url}/v1`;
    }
  }

  private replica(app: App, index: number, env: Readonly<Record<string, string>>): Replica {
    const name = `${app}-${index}`;
    const dataDir = join(this.folder, name);
    mkdirSync(dataDir, { recursive: true });
    const replica = new Replica(app, name, root, join(dataDir, 'log'), { ...env, DATA_DIR: dataDir });
    this.replicas.push(replica);
    return replica;
  }
}
