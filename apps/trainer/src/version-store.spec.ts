import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPeftAdapter } from '@hindcast/language-model';
import { loraTuning, seedModel, uuid } from './testing/fixtures';
import type { TrainingState } from './core/train-step';
import { VersionStore, type PolicyFiles, type NewManifest } from './version-store';

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

const record = { v: 1 as const, version: 1, weights: { rl: 1, opd: 1 }, samples: [] };
const newManifest = (version: number, state: TrainingState): NewManifest => ({
  version,
  parent: version - 1,
  at: 1,
  turnIds: [uuid(version)],
  hyperparameters: {},
  metrics: {},
  progress: state.progress,
});

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
  await store.commit(newManifest(version, moved), moved, record);
  return moved;
}

beforeAll(async () => {
  shape = { config: (await seedModel()).config, baseModel: 'seed', tuning: loraTuning(), seed: 0 };
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-store-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

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

  it('refuses weights that are not those that were committed', async () => {
    const store = await open();
    await commit(store, 1);
    writeFileSync(join(store.folderOf(1), 'optimizer.safetensors'), 'something else');
    await expect(store.stateOf(1)).rejects.toThrow(/optimizer.safetensors is not the file that was committed/);
  });

  it('refuses to go on with another rank', async () => {
    await commit(await open(), 1);
    await expect((await reopen({ tuning: loraTuning({ rank: 4 }) })).stateOf(1)).rejects.toThrow(
      /rank 2 and alpha 4, LORA_RANK and LORA_ALPHA say 4/,
    );
  });

  it.each([
    { path: 'v000001/manifest.json', text: '{}' },
    { path: 'v000001/manifest.json', text: '{"v' },
    { path: 'v000001/manifest.json', text: null },
    { path: 'numbering.json', text: '' },
    { path: 'numbering.json', text: '{"v":1,"above":-1}' },
  ])('refuses a folder whose $path holds $text, names it, and lets go of the lock', async ({ path, text }) => {
    mkdirSync(join(folder, 'v000001'));
    if (text !== null) writeFileSync(join(folder, path), text);
    await expect(open()).rejects.toThrow(`${join(folder, path)} is ${text === null ? 'missing' : 'damaged'}`);
    rmSync(join(folder, 'v000001'), { recursive: true });
    rmSync(join(folder, 'numbering.json'), { force: true });
    await open();
  });

  it('names a batch to rebuild that is damaged', async () => {
    const store = await open();
    writeFileSync(join(folder, 'next-batch.json'), '{"v');
    await expect(store.nextBatch()).rejects.toThrow(`${join(folder, 'next-batch.json')} is damaged`);
  });

  it('deletes old weights, never a manifest or the record of a step', async () => {
    const store = await open();
    for (let version = 1; version <= 4; version++) {
      await commit(store, version);
      await store.settle(version, 'published', null, {});
    }
    await store.cleanUp(3);
    expect(readdirSync(store.folderOf(1)).sort()).toEqual(['manifest.json', 'step.json']);
    expect(await store.hasWeights(1)).toBe(false);
    expect(await store.hasWeights(2)).toBe(true);
    expect((await reopen()).all()).toHaveLength(4);
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
