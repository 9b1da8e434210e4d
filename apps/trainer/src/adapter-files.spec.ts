import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readModelConfig, readPeftAdapter } from '@hindcast/language-model';
import { loraScale } from './core/tuning';
import { loraTuning, SEED_MODEL } from './testing/fixtures';
import { initialWeights, writeWeights } from './version-files';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'adapter-files-'));
});
afterAll(async () => {
  await rm(root, { recursive: true });
});

it.each([
  { name: 'alpha over rank', tuning: loraTuning({ rank: 4, alpha: 8 }), scale: 2 },
  {
    name: 'alpha over the root of rank',
    tuning: loraTuning({ rank: 4, alpha: 8, isRankStabilised: true, dropout: 0.1 }),
    scale: 4,
  },
])(
  'a version’s adapter is scaled by engines as it was while it was trained: $name',
  async ({ name, tuning, scale }) => {
    const config = await readModelConfig(SEED_MODEL);
    const files = { config, baseModel: SEED_MODEL, tuning, seed: 0 };
    const folder = join(root, name);
    await writeWeights(folder, await initialWeights(files), files);
    const adapter = await readPeftAdapter(folder, config);
    expect(adapter).toMatchObject({ scale, dropout: tuning.dropout });
    expect(loraScale(tuning)).toBe(scale);
  },
);
