import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { DemoJudgeConfig } from '../apps/demo-judge/src/config';
import { DispatcherConfig } from '../apps/dispatcher/src/config';
import { EngineConfig } from '../apps/engine/src/config';
import { GatewayConfig } from '../apps/gateway/src/config';
import { JudgeConfig } from '../apps/judge-svc/src/config';
import { TeacherConfig } from '../apps/teacher-svc/src/config';
import { TrainerConfig } from '../apps/trainer/src/config';
import { parseConfig } from '../libs/platform/src/config';
import { image } from './pruned';

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: object;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly stop_grace_period: string;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const root = join(__dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const yaml = createRequire(__filename)('js-yaml') as {
  load(text: string, options: { schema: unknown }): unknown;
  YAML11_SCHEMA: unknown;
};
const parse = (text: string): Compose => yaml.load(text, { schema: yaml.YAML11_SCHEMA }) as Compose;
const compose = parse(read('compose.yaml'));

const configs = {
  gateway: GatewayConfig,
  'judge-svc': JudgeConfig,
  'teacher-svc': TeacherConfig,
  dispatcher: DispatcherConfig,
  trainer: TrainerConfig,
  engine: EngineConfig,
  'demo-judge': DemoJudgeConfig,
} as const;
type App = keyof typeof configs;
const apps = Object.keys(configs) as App[];
/** Where each app listens, as its image has it. */
const ports: Readonly<Record<App, number>> = {
  gateway: 8080,
  'judge-svc': 8081,
  'teacher-svc': 8082,
  dispatcher: 8083,
  trainer: 8084,
  engine: 8000,
  'demo-judge': 8001,
};

let folder: string;
/** What `npm run image -- env` writes. */
let secrets: Record<string, string>;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-compose-'));
  const file = join(folder, '.env');
  const { status, stdout } = await image('env', `--out=${file}`);
  expect(status).toBe(0);
  key = stdout.trim();
  secrets = Object.fromEntries(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `${NAME:-default}` and `${NAME:?message}` as Compose reads them. */
const filled = (text: string): string =>
  text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    if (secrets[name] !== undefined) return secrets[name];
    if (kind === '?') throw new Error(`${name} is not set: ${rest}`);
    return rest;
  });
const environmentOf = (service: Service): Record<string, string> =>
  Object.fromEntries(Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)]));

/** Names that a config reads, under whatever it is wrapped in. */
function variablesOf(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  const { in: from, innerType } = schema.def as { in?: z.ZodType; innerType?: z.ZodType };
  return variablesOf((from ?? innerType)!);
}

describe('compose.yaml', () => {
  it.each(apps)('the variables of %s are ones that it reads, with values that it takes', (app) => {
    const { environment } = compose.services[app]!;
    const known = variablesOf(configs[app]);
    for (const [name, value] of Object.entries(environment!)) {
      expect(known).toContain(name);
      // A number in YAML would be one that Compose formats.
      expect([name, typeof value]).toEqual([name, 'string']);
    }
    const env = { PORT: String(ports[app]), DATA_DIR: '/data', ...environmentOf(compose.services[app]!) };
    expect(() => parseConfig(app, configs[app], env)).not.toThrow();
  });

  it.each([...apps, 'nats', 'postgres'])(
    '%s is closed: read-only, without capabilities, in its own networks',
    (name) => {
      const service = compose.services[name]!;
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        restart: 'unless-stopped',
      });
      expect(service.tmpfs!.some((place) => place.startsWith('/tmp:'))).toBe(true);
      const isOutside = service.networks.includes('outside');
      expect(isOutside).toBe(['gateway', 'judge-svc'].includes(name));
      expect(compose.networks['inside']).toEqual({ internal: true });
      expect(filled(service.image)).toMatch(/^[\w/-]+:\d+\.\d+[\w.-]*$/);
    },
  );

  it('only the gateway can be reached, from this machine', () => {
    const published = Object.entries(compose.services).filter(([, { ports: list }]) => list !== undefined);
    expect(published.map(([name, { ports: list }]) => [name, list])).toEqual([['gateway', ['127.0.0.1:8080:8080']]]);
  });

  it('addresses are those of services, at the ports of their images', () => {
    const addresses = apps.flatMap((app) =>
      Object.values(environmentOf(compose.services[app]!)).flatMap((value) => [
        ...value.matchAll(/(?:\w+:\/\/(?:[^@/]*@)?)([\w-]+):(\d+)/g),
      ]),
    );
    const expected: Record<string, number> = { ...ports, nats: 4222, postgres: 5432 };
    expect(addresses.length).toBeGreaterThan(5);
    for (const [, host, port] of addresses) expect([host, Number(port)]).toEqual([host, expected[host!]]);
  });

  it('each waits for what it cannot do without', () => {
    for (const app of apps) {
      const { environment, depends_on: needs = {} } = compose.services[app]!;
      if (environment!['NATS_URL'] !== undefined) expect(needs['nats']).toEqual({ condition: 'service_healthy' });
      if (environment!['DATABASE_URL'] !== undefined)
        expect(needs['postgres']).toEqual({ condition: 'service_healthy' });
      for (const needed of Object.keys(needs)) expect(Object.keys(compose.services)).toContain(needed);
    }
    expect(compose.services['nats']!.healthcheck).toBeDefined();
    expect(compose.services['postgres']!.healthcheck).toBeDefined();
  });

  it('a service is given longer to end than it takes for itself', () => {
    for (const app of apps) {
      const { stop_grace_period: grace, environment } = compose.services[app]!;
      expect(Number(/^(\d+)s$/.exec(grace)![1])).toBeGreaterThan(Number(environment!['SHUTDOWN_SECONDS'] ?? 25) + 10);
    }
  });

  it('trainer and engine share the versions, and only the trainer writes them', () => {
    expect(compose.services['trainer']!.volumes).toContain('policies:/policies');
    expect(compose.services['engine']!.volumes).toContain('policies:/policies:ro');
    for (const { volumes = [] } of Object.values(compose.services))
      for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
  });

  it('a real nats-server takes its configuration and the password of the environment', () => {
    const file = join(folder, 'nats.conf');
    writeFileSync(file, compose.configs['nats']!.content.replaceAll('$$', '$').replace('"/data"', `"${folder}/store"`));
    const test = (env: Record<string, string>): ReturnType<typeof spawnSync> =>
      spawnSync('nats-server', ['-c', file, '-t'], { encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } });
    expect(test(environmentOf(compose.services['nats']!))).toMatchObject({ status: 0 });
    expect(test({}).status).not.toBe(0);
    expect(compose.configs['nats']!.content).toContain('max_payload: 8388608');
  });

  it('the key that is shown is the one whose hash the gateway gets', async () => {
    const hash = spawnSync('sha256sum', { input: key, encoding: 'utf8' }).stdout.slice(0, 64);
    expect(secrets['API_KEYS']).toBe(`default:${hash}`);
    expect(secrets['ADMIN_API_KEYS']).toMatch(/^admin:[0-9a-f]{64}$/);
    expect(secrets['ADMIN_API_KEYS']).not.toContain(hash);
    expect(await image('env', `--out=${join(folder, '.env')}`)).toMatchObject({ status: 1, stdout: '' });
  });

  it('with a GPU only the trainer changes', () => {
    const gpu = parse(read('compose.gpu.yaml'));
    expect(Object.keys(gpu.services)).toEqual(['trainer']);
    expect(filled(gpu.services['trainer']!.image)).toBe('hindcast/trainer-onnx:0.1.0');
  });
});
