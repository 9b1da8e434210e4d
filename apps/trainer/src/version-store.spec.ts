import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HindcastError } from '@hindcast/contracts';
import { readPeftAdapter } from '@hindcast/language-model';
import { loraTuning, manifest, newManifest, uuid } from './testing/fixtures';
import { TestStores, record } from './testing/test-stores';

const stores = new TestStores();
const { open, reopen, commit } = stores;
let folder: string;

beforeEach(() => {
  folder = stores.begin();
});
afterEach(() => stores.end());

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

  it('says of weights that somebody scores with that they are shared', async () => {
    const store = await open();
    await commit(store, 1);
    expect(await store.weightsOf(1)).toBe(await store.weightsOf(1));
    expect(await store.stateOf(1)).toMatchObject({ isShared: true });
    expect(await store.stateOf(1)).not.toHaveProperty('isShared');
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

describe('room on the disk', () => {
  it('is asked for before a version is written', async () => {
    const store = await open({ tuning: loraTuning({ rank: 1e9 }) });
    await expect(store.assertRoom()).rejects.toMatchObject({ code: 'disk-full', retry: true });
  });
});
