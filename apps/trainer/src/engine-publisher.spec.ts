import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapterName, versionFolder, type Manifest } from './core/manifest';
import { labelledVersion } from './core/weights-label';
import { EngineClient } from './engine-client';
import { EnginePublisher } from './engine-publisher';
import { FakeEngine, type FakeKind } from './testing/fake-engine';
import { manifest } from './testing/fixtures';

// Whole weights: in engines that have one set at a time (vLLM, SGLang), and in the one that has several by name.

let folder = '';
let versions: Manifest[] = [];
const engines: FakeEngine[] = [];

const folderOf = (version: number): string => join(folder, versionFolder(version));
const store = {
  all: () => versions,
  get servedVersion(): number {
    return Math.max(0, ...versions.filter(({ state }) => state === 'published').map(({ version }) => version));
  },
  folderOf,
  hasWeights: () => Promise.resolve(true),
};

/** A version with its weights on disk. */
function write(version: number, state: Manifest['state'] = 'published'): void {
  mkdirSync(folderOf(version), { recursive: true });
  for (const name of ['model.safetensors', 'adapter_model.safetensors'])
    writeFileSync(join(folderOf(version), name), '');
  versions = [...versions.filter((other) => other.version !== version), manifest({ version, state })];
}

async function startEngine(kind: FakeKind): Promise<FakeEngine> {
  const engine = await new FakeEngine(kind).start();
  engines.push(engine);
  return engine;
}

function publisherTo(kind: FakeKind, tuning: 'lora' | 'full' = 'full', timeoutMs = 600_000): EnginePublisher {
  const dialect = kind === 'sglang' ? 'sglang' : 'vllm';
  const clients = engines.map(
    ({ baseUrl }) => new EngineClient({ baseUrl, dialect, apiKey: 'key', timeoutMs, updateTimeoutMs: timeoutMs }),
  );
  return new EnginePublisher(clients, store, tuning);
}
const versionOf = (engine: FakeEngine): number | null => labelledVersion(engine.weights.label);
const sample = (publisher: EnginePublisher, version: number) =>
  publisher.engines[0]!.sample({ model: publisher.modelName(version), promptIds: [1], maxTokens: 1, seed: 0 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-publisher-'));
  versions = [];
  write(1);
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.die()));
  rmSync(folder, { recursive: true, force: true });
});

describe.each(['vllm', 'sglang'] as const)('one set of weights: %s', (kind) => {
  it('D31 is replaced once per version, and asked for by the base model’s name', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    expect(await publisher.load(1)).toMatchObject([{ error: null }]);
    expect(await publisher.load(1)).toMatchObject([{ error: null }]);
    expect(engine.loads).toEqual([folderOf(1)]);
    expect(versionOf(engine)).toBe(1);
    expect(publisher).toMatchObject({ holding: 'replaced' });
    expect(publisher.modelName(1)).toBeNull();
    expect(engine.keys).toEqual(new Set(['Bearer key']));
  });

  it('D35 no answer of new weights reads what old ones cached, and a refused flush fails the update', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    await sample(publisher, 0);
    expect(engine.cachedBy).toBe('base');
    await publisher.load(1);
    expect(engine.cachedBy).toBeNull();
    await sample(publisher, 1);
    expect(engine.staleAnswers).toBe(0);
    engine.refusesFlush = true;
    write(2, 'committed');
    const [load] = await publisher.load(2);
    expect(load!.error).toMatchObject({ code: 'engine-invalid-response' });
    expect(versionOf(engine)).toBeNull();
  });

  it('D32 answers under way finish on their version; those that come meanwhile wait for the new one', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    const end = await engine.begin();
    const loading = publisher.load(1);
    while (!engine.isPaused) await new Promise((resolve) => setImmediate(resolve));
    const later = engine.begin();
    expect(engine.loads).toEqual([]);
    expect(end()).toEqual({ began: 'base', ended: 'base' });
    await loading;
    expect((await later)()).toEqual({ began: folderOf(1), ended: folderOf(1) });
  });

  it('D34 a failed update leaves the version that serves, and is no reason to label anything else', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    await publisher.load(1);
    write(2, 'committed');
    engine.failures = 1;
    const [load] = await publisher.load(2);
    expect(load!.error).toMatchObject({ code: 'engine-invalid-response' });
    expect(engine.weights.path).toBe(folderOf(1));
    expect(versionOf(engine)).toBe(1);
    expect(engine.isPaused).toBe(false);
  });

  it('an engine that restarted has the base model: noticed by its label, and given the version that serves', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    await publisher.load(1);
    await engine.die();
    expect(await publisher.reconcile(null)).toMatchObject([{ versions: null }]);
    await engine.start();
    expect(await publisher.reconcile(null)).toMatchObject([{ versions: [1], error: null }]);
    expect(versionOf(engine)).toBe(1);
  });

  it('an update that the trainer’s death broke off is done again', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    await publisher.load(1);
    engine.weights = { path: 'half', label: 'hindcast-unknown' };
    engine.isPaused = kind === 'vllm';
    expect(await publisher.reconcile(null)).toMatchObject([{ versions: [1], error: null }]);
    expect(engine.weights.path).toBe(folderOf(1));
    expect(engine.isPaused).toBe(false);
  });

  it('is left alone while a version is under examination, and put back when it is refused', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    await publisher.load(1);
    write(2, 'committed');
    await publisher.load(2);
    expect(await publisher.reconcile(2)).toMatchObject([{ versions: [2] }]);
    expect(engine.loads).toEqual([folderOf(1), folderOf(2)]);
    await publisher.withdraw(2, publisher.engines);
    expect(versionOf(engine)).toBe(1);
  });

  it('goes to as many engines as a trial needs; a dead one is passed over', async () => {
    const [dead, first, second] = [await startEngine(kind), await startEngine(kind), await startEngine(kind)];
    const publisher = publisherTo(kind);
    await dead.die();
    const loads = await publisher.loadForTrial(1, 1);
    expect(loads.map(({ error }) => error === null)).toEqual([false, true]);
    expect([versionOf(first), versionOf(second)]).toEqual([1, null]);
  });

  it('an update of the base model that broke off is noticed too', async () => {
    const engine = await startEngine(kind);
    versions = [];
    write(1, 'committed');
    engine.failures = 2;
    const publisher = publisherTo(kind);
    await publisher.load(1);
    expect(await publisher.reconcile(null)).toMatchObject([{ versions: [0], error: null }]);
    expect(engine.weights.path).toBe(folderOf(0));
    expect(engine.isPaused).toBe(false);
  });

  it('rolls back to the base model by its folder', async () => {
    const engine = await startEngine(kind);
    const publisher = publisherTo(kind);
    await publisher.load(1);
    await publisher.load(0);
    expect(engine.loads.at(-1)).toBe(folderOf(0));
    expect(versionOf(engine)).toBe(0);
  });
});

it.each(['vllm', 'sglang'] as const)(
  'D31, D33, D34 adapters in several engines, %s: each once, the newest three kept, a dead engine stops no other',
  async (kind) => {
    const [first, dead] = [await startEngine(kind), await startEngine(kind)];
    const publisher = publisherTo(kind, 'lora');
    await publisher.load(1);
    for (const version of [2, 3, 4]) write(version);
    await dead.die();
    const states = await publisher.reconcile(null);
    expect(states.map(({ versions: held }) => held)).toEqual([[4, 3, 2], null]);
    expect([...first.adapters.keys()].sort()).toEqual([2, 3, 4].map(adapterName));
    await dead.start();
    await publisher.reconcile(null);
    await publisher.reconcile(null);
    expect([...dead.adapters.keys()].sort()).toEqual([2, 3, 4].map(adapterName));
    expect(first.loads).toEqual([1, 4, 3, 2].map(adapterName));
    expect(first.loads.length).toBe(new Set(first.loads).size);
    expect(publisher.modelName(4)).toBe('hindcast-v000004');
  },
);

it('weights by name: loaded beside those that serve, unloaded when they are old', async () => {
  const engine = await startEngine('named');
  const publisher = publisherTo('named');
  for (const version of [2, 3, 4]) write(version);
  await publisher.load(1);
  expect(publisher).toMatchObject({ holding: 'named' });
  expect(publisher.modelName(1)).toBe(adapterName(1));
  expect(await publisher.reconcile(null)).toMatchObject([{ versions: [4, 3, 2], error: null }]);
  expect([...engine.adapters.keys()].sort()).toEqual([2, 3, 4].map(adapterName));
});

it('engines of both kinds cannot be published to at once: the board names one model for all', async () => {
  await startEngine('named');
  await startEngine('vllm');
  const publisher = publisherTo('vllm');
  const states = await publisher.reconcile(null);
  expect(states.filter(({ error }) => error !== null)).toMatchObject([
    { error: { code: 'config-invalid', message: expect.stringContaining('publish to one kind') } },
  ]);
});
