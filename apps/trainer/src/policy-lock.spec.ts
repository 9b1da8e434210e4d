import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { TestStores } from './testing/test-stores';

const stores = new TestStores();
const { open } = stores;
let folder: string;

beforeEach(() => {
  folder = stores.begin();
});
afterEach(() => stores.end());

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
