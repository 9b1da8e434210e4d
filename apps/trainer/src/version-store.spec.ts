import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { HindcastError } from '@hindcast/contracts';
import { readModelConfig, readModelWeights, readPeftAdapter, type HostTensor } from '@hindcast/language-model';
import { loraTuning, manifest, newManifest, SEED_MODEL, seedModel, uuid } from './testing/fixtures';
import type { TrainingState } from './core/train-step';
import type { PolicyFiles } from './version-files';
import { VersionStore } from './version-store';

let shape: PolicyFiles;
let folder: string;
const opened: VersionStore[] = [];

async function open(over: Partial<PolicyFiles> = {}): Promise<VersionStore> {
  const store = await VersionStore.open(folder, { ...shape, ...over });
  opened.push(store);
  return store;
}

async function reopen(over: Partial<PolicyFiles> = {}): Promise<VersionStore> {
  for (const store of opened.splice(0)) await store.close();
  return await open(over);
}

const record = {
  v: 1 as const,
  version: 1,
  weights: { rl: 1, opd: 1 },
  clip: { epsilonLow: 0.2, epsilonHigh: 0.28 },
  samples: [],
};
async function commit(store: VersionStore, version: number): Promise<TrainingState> {
  const state = await store.stateOf(0);
  const first = [...state.weights.keys()][0]!;
  const moved = {
    ...state,
    weights: new Map(state.weights).set(first, {
      ...state.weights.get(first)!,
      data: state.weights.get(first)!.data.map((x) => x + version),
    }),
    optimizer: { ...state.optimizer, step: version },
    progress: { ...state.progress, rewardBaseline: version },
  };
  await store.commit(newManifest(version, moved, store.tuning), moved, record);
  return moved;
}

beforeAll(async () => {
  shape = { config: (await seedModel()).config, baseModel: SEED_MODEL, tuning: loraTuning(), seed: 0 };
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-store-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Jest compares arrays number by number, which takes minutes for a model. */
function expectSame(found: ReadonlyMap<string, HostTensor>, expected: ReadonlyMap<string, HostTensor>): void {
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  const different = [...found].filter(([name, { shape: size, data }]) => {
    const other = expected.get(name)!;
    return String(size) !== String(other.shape) || Buffer.compare(bytesOf(data), bytesOf(other.data)) !== 0;
  });
  expect(different.map(([name]) => name)).toEqual([]);
}

function expectSameState(found: TrainingState, expected: TrainingState): void {
  expectSame(found.weights, expected.weights);
  expect(found.progress).toEqual(expected.progress);
  expect(found.optimizer.step).toBe(expected.optimizer.step);
  for (const kind of ['first', 'second'] as const)
    for (const [name, values] of expected.optimizer[kind])
      expect(Buffer.compare(bytesOf(found.optimizer[kind].get(name)!), bytesOf(values))).toBe(0);
}

const bytesOf = (data: Float32Array | Int32Array): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
}

describe('VersionStore', () => {
  it('begins at version 0, with an adapter that changes nothing', async () => {
    const store = await open();
    const { weights, optimizer } = await store.stateOf(0);
    expect(store.servedVersion).toBe(0);
    expect(optimizer.step).toBe(0);
    for (const [name, { data }] of weights) if (name.includes('lora_B')) expect(data.every((x) => x === 0)).toBe(true);
  });

  it('gives back what was committed, after a restart too', async () => {
    const state = await commit(await open(), 1);
    const store = await reopen();
    expect(store.get(1)).toMatchObject({ state: 'committed', turnIds: [uuid(1)] });
    expect(await store.stateOf(1)).toEqual(state);
    expect(store.trainedIn(uuid(1))).toBe(1);
    expect(store.trainedIn(uuid(2))).toBeNull();
    expect((await readPeftAdapter(store.folderOf(1))).tensors).toEqual(state.weights);
  });

  it.each([
    { left: '.v000001.0b7c.tmp', why: 'killed while writing a version' },
    { left: '.next-batch.json.0b7c.tmp', why: 'killed while writing the next batch' },
  ])('starts as if nothing had been: $why', async ({ left }) => {
    mkdirSync(join(folder, left));
    writeFileSync(join(folder, left, 'adapter_model.safetensors'), 'half');
    const store = await open();
    expect(store.all()).toEqual([]);
    expect(store.nextVersion).toBe(1);
    expect(await store.nextBatch()).toBeNull();
  });

  it('remembers the batch that was begun until it is committed', async () => {
    const batch = { v: 1 as const, version: 1, turnIds: [uuid(1)] };
    await (await open()).writeNextBatch(batch);
    const store = await reopen();
    expect(await store.nextBatch()).toEqual(batch);
    await commit(store, 1);
    expect(await (await reopen()).nextBatch()).toBeNull();
  });

  it('records what became of a version, and counts on from the newest whatever that was', async () => {
    const store = await open();
    await commit(store, 1);
    await store.settle(1, 'published', null, { drift_nats: 1.5 });
    await commit(store, 2);
    await store.settle(2, 'refused', 'drift: too far', {});
    const again = await reopen();
    expect(again.get(1)).toMatchObject({ state: 'published', metrics: { drift_nats: 1.5 } });
    expect(again.get(2)).toMatchObject({ state: 'refused', reason: 'drift: too far' });
    expect(again.servedVersion).toBe(1);
    expect(again.nextVersion).toBe(3);
    expect((await again.stateOf(1)).progress.rewardBaseline).toBe(2);
  });

  it('numbers versions above what another folder announced, after a restart too', async () => {
    const store = await open();
    await commit(store, 1);
    expect(await store.numberAbove(1)).toBe(false);
    expect(await store.numberAbove(7)).toBe(true);
    expect(await store.numberAbove(7)).toBe(false);
    expect((await reopen()).nextVersion).toBe(8);
  });

  it('hands out the state of the newest version as it was committed, and reads it when it is asked for again', async () => {
    const store = await open();
    const state = await commit(store, 1);
    const first = await store.stateOf(1);
    const again = await store.stateOf(1);
    expect([first.weights, first.optimizer]).toEqual([state.weights, state.optimizer]);
    expect(again.weights).toEqual(first.weights);
    // A step may change what it was given.
    expect([...again.weights.values()][0]!.data.buffer).not.toBe([...first.weights.values()][0]!.data.buffer);
  });

  it.each([
    { change: { rank: 4 }, settings: 'LORA_RANK=2' },
    { change: { alpha: 8 }, settings: 'LORA_ALPHA=4' },
    { change: { targets: ['q_proj'] as const }, settings: /LORA_TARGETS=q_proj,k_proj,v_proj,/ },
    { change: { isRankStabilised: true }, settings: 'LORA_RANK_STABILISED=0' },
  ])('refuses to go on with $change, and says what to set', async ({ change, settings }) => {
    const store = await open();
    await commit(store, 1);
    await store.settle(1, 'published', null, {});
    await expect(reopen({ tuning: loraTuning(change) })).rejects.toThrow(settings);
    await reopen({ tuning: loraTuning({ dropout: 0.5 }) });
  });

  it('refuses an adapter of another rank whose manifest does not say how it was trained', async () => {
    const store = await open();
    const state = await store.stateOf(0);
    await store.commit({ ...newManifest(1, state), hyperparameters: {} }, state, record);
    await expect((await reopen({ tuning: loraTuning({ rank: 4 }) })).stateOf(1)).rejects.toThrow(
      'v000001 needs LORA_RANK=2 LORA_ALPHA=4',
    );
  });

  it.each([
    { path: 'v000001/manifest.json', text: '{}' },
    { path: 'v000001/manifest.json', text: '{"v' },
    { path: 'v000001/manifest.json', text: null },
    { path: 'numbering.json', text: '' },
    { path: 'numbering.json', text: '{"v":1,"above":-1}' },
    { path: 'next-batch.json', text: '{"v' },
  ])('refuses a folder whose $path holds $text, names it, and lets go of the lock', async ({ path, text }) => {
    mkdirSync(join(folder, 'v000001'));
    writeFileSync(join(folder, 'v000001/manifest.json'), JSON.stringify(manifest()));
    if (text !== null) writeFileSync(join(folder, path), text);
    else rmSync(join(folder, path));
    const error = await open().catch((refusal: unknown) => refusal as HindcastError);
    expect(error).toMatchObject({ code: 'policy-damaged' });
    expect((error as Error).message).toContain(`${join(folder, path)} is ${text === null ? 'missing' : 'damaged'}`);
    expect((error as Error).message).toMatch(/Restore it from a backup|Remove it/);
    rmSync(join(folder, 'v000001'), { recursive: true });
    rmSync(join(folder, 'numbering.json'), { force: true });
    rmSync(join(folder, 'next-batch.json'), { force: true });
    await open();
  });

  it('refuses a copy of a version under another number: its turns would be trained twice', async () => {
    const store = await open();
    await commit(store, 1);
    cpSync(store.folderOf(1), join(folder, 'v000002'), { recursive: true });
    await expect(reopen()).rejects.toThrow('v000002/manifest.json is damaged: it is of version 1');
  });

  it('deletes old weights, never a manifest, the record of a step, or what somebody else put there', async () => {
    const store = await open();
    for (let version = 1; version <= 4; version++) {
      await commit(store, version);
      await store.settle(version, 'published', null, {});
    }
    writeFileSync(join(store.folderOf(1), 'notes.txt'), 'the first one');
    await store.cleanUp(3);
    expect(readdirSync(store.folderOf(1)).sort()).toEqual(['manifest.json', 'notes.txt', 'step.json']);
    expect(await store.hasWeights(1)).toBe(false);
    expect(await store.hasWeights(2)).toBe(true);
    expect(await store.kept(3)).toEqual([4, 3, 2]);
    // Going back brings no weights back, nor does keeping more from now on.
    await store.settle(4, 'rolled-back', 'worse', {});
    expect(await store.kept(3)).toEqual([4, 3, 2]);
    expect(await store.kept(10)).toEqual([4, 3, 2]);
    expect((await reopen()).all()).toHaveLength(4);
  });

  it('has no temporary file, no open file and no more weights than it keeps after a hundred versions', async () => {
    const store = await open();
    const openFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
    const state = await store.stateOf(0);
    const before = openFiles();
    for (let version = 1; version <= 100; version++) {
      await store.writeNextBatch({ v: 1, version, turnIds: [uuid(version)] });
      await store.commit(newManifest(version, state), state, record);
      await store.clearNextBatch();
      await store.settle(version, 'published', null, {});
      await store.cleanUp(3);
    }
    expect(openFiles()).toBe(before);
    const names = readdirSync(folder, { recursive: true }).map(String);
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const count = (file: string): number => names.filter((name) => name.endsWith(file)).length;
    expect([count('manifest.json'), count('step.json')]).toEqual([100, 100]);
    expect([count('adapter_model.safetensors'), count('optimizer.safetensors')]).toEqual([3, 3]);
    expect(readdirSync(folder)).toHaveLength(101);
  }, 120_000);
});

describe('damage', () => {
  const file = (...path: string[]): string => join(folder, 'v000001', ...path);
  it.each([
    {
      damage: () => writeFileSync(file('adapter_model.safetensors'), 'something else'),
      error: 'adapter_model.safetensors is not the file that was committed',
    },
    {
      damage: () => flipByte(file('optimizer/optimizer.safetensors')),
      error: 'optimizer/optimizer.safetensors is not the file that was committed',
    },
    { damage: () => rmSync(file('adapter_config.json')), error: 'adapter_config.json is missing' },
    { damage: () => rmSync(file('optimizer'), { recursive: true }), error: 'optimizer.safetensors is missing' },
    {
      damage: () => writeFileSync(file('adapter_model.bin'), ''),
      error: 'adapter_model.bin was not committed, and an engine would load it',
    },
  ])('is found and named: $error', async ({ damage, error }) => {
    await commit(await open(), 1);
    damage();
    const store = await reopen();
    expect(await store.damageOf(1)).toContain(error);
    await expect(store.stateOf(1)).rejects.toMatchObject({ code: 'policy-damaged' });
    await expect(store.weightsOf(1)).rejects.toThrow(error);
    expect(store.trainedIn(uuid(1))).toBe(1);
  });

  it.each(['notes.txt', 'step.json'])('is none in what nothing depends on: %s', async (name) => {
    await commit(await open(), 1);
    writeFileSync(file(name), 'by hand');
    expect(await (await reopen()).damageOf(1)).toBeNull();
  });
});

describe('full tuning', () => {
  const full: PolicyFiles['tuning'] = { kind: 'full' };

  it('begins with the base model, and keeps a model directory that loads as it is', async () => {
    const store = await open({ tuning: full });
    const { config, baseWeights } = await seedModel();
    const base = await store.stateOf(0);
    expectSame(base.weights, baseWeights);
    expect(store.folderOf(0)).toBe(resolve(SEED_MODEL));
    const state = await commit(store, 1);
    const model = store.folderOf(1);
    expect(readdirSync(model).sort()).toEqual([
      'config.json',
      'manifest.json',
      'model.safetensors',
      'optimizer',
      'step.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(readFileSync(join(model, 'config.json'))).toEqual(readFileSync(join(SEED_MODEL, 'config.json')));
    expect(await readModelConfig(model)).toEqual(config);
    expectSame(await readModelWeights(model, config), state.weights);
    const reopened = await reopen({ tuning: full });
    const again = await reopened.stateOf(1);
    expectSameState(again, state);
    expect([...again.weights.keys()]).toEqual([...base.weights.keys()]);
    expect(await reopened.hasWeights(1)).toBe(true);
  });

  it('cuts weights and moments into several files beyond a size', async () => {
    const shape = { tuning: full, maxShardBytes: 1e6 };
    const state = await commit(await open(shape), 1);
    const names = readdirSync(join(folder, 'v000001'), { recursive: true }).map(String);
    expect(names).toContain('model.safetensors.index.json');
    expect(names).toContain('model-00001-of-00003.safetensors');
    expect(names.filter((name) => name.startsWith('optimizer/optimizer-')).length).toBeGreaterThan(4);
    expectSameState(await (await reopen(shape)).stateOf(1), state);
  });

  it('and LoRA do not go on from each other', async () => {
    await commit(await open({ tuning: full }), 1);
    await expect(reopen()).rejects.toThrow('set TUNING=full to go on from it');
  });
});

describe('room on the disk', () => {
  it('is asked for before a version is written', async () => {
    const store = await open({ tuning: loraTuning({ rank: 1e9 }) });
    await expect(store.assertRoom()).rejects.toMatchObject({ code: 'disk-full', retry: true });
  });
});

describe('the lock', () => {
  it('is held against a second store, and free again once the first is closed', async () => {
    const store = await open();
    await expect(open()).rejects.toThrow(/another trainer/);
    await store.close();
    await open();
  });

  it.each([
    {
      holder: JSON.stringify({ pid: 2 ** 22 + 1, host: 'here', processStart: null, token: 'a' }),
      why: 'its process is gone',
    },
    {
      holder: JSON.stringify({ pid: process.pid, host: 'here', processStart: '1', token: 'a' }),
      why: 'its number is another process now',
    },
    { holder: 'half a lo', why: 'it is not readable' },
  ])('of a dead trainer is taken over: $why', async ({ holder }) => {
    writeFileSync(join(folder, 'trainer.lock'), holder.replace('here', hostname()));
    const store = await open();
    await store.close();
    expect(existsSync(join(folder, 'trainer.lock'))).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of a trainer on another machine counts as long as it is touched', async () => {
    const path = join(folder, 'trainer.lock');
    writeFileSync(path, JSON.stringify({ pid: 1, host: 'another-machine', processStart: null, token: 'a' }));
    await expect(open()).rejects.toThrow(/process 1 on another-machine/);
    utimesSync(path, new Date(0), new Date(0));
    await open();
  });
});
