import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readModelConfig, readModelWeights, type HostTensor } from '@hindcast/language-model';
import { SEED_MODEL, seedModel } from './testing/fixtures';
import type { TrainingState } from './core/train-step';
import type { PolicyFiles } from './version-files';
import { TestStores } from './testing/test-stores';

const stores = new TestStores();
const { open, reopen, commit } = stores;
let folder: string;

beforeEach(() => {
  folder = stores.begin();
});
afterEach(() => stores.end());

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
