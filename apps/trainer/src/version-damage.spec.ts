import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { uuid } from './testing/fixtures';
import { TestStores } from './testing/test-stores';

const stores = new TestStores();
const { open, reopen, commit } = stores;
let folder: string;

beforeEach(() => {
  folder = stores.begin();
});
afterEach(() => stores.end());

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
}

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
