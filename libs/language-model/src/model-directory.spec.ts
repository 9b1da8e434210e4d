import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig } from './config';
import { float32Tensor } from './host-tensor';
import { readModelWeights, weightShapes, writeModelWeights } from './model-weights';
import { writeSafetensors } from './safetensors';
import { madeWeights, SEED_DIR, smallConfig } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';

const folder = temporaryFolder();

describe('weights of a directory', () => {
  const weights = madeWeights(smallConfig);
  const directory = async (name: string): Promise<string> => {
    const dir = join(folder(), name);
    await mkdir(dir);
    return dir;
  };

  it.each([
    { name: 'whole', maxShardBytes: 1e9, files: 1 },
    { name: 'sharded', maxShardBytes: 3000, files: 8 },
  ])('come back as they were written, $name', async ({ name, maxShardBytes, files }) => {
    const dir = await directory(name);
    await writeModelWeights(dir, weights, { maxShardBytes });
    expect(await readModelWeights(dir, smallConfig)).toEqual(weights);
    expect(await readdir(dir)).toHaveLength(files);
  });

  it('are read for the seed model, each of the shape that its configuration says', async () => {
    const config = await readModelConfig(SEED_DIR);
    const read = await readModelWeights(SEED_DIR, config);
    expect([...read.keys()]).toEqual([...weightShapes(config).keys()]);
  });

  it('are refused when one is missing or of another shape', async () => {
    const dir = await directory('wrong');
    const [first] = weights.keys();
    await writeModelWeights(dir, new Map([...weights].filter(([name]) => name !== first)));
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow(`weight ${first} is missing`);
    await writeModelWeights(
      dir,
      new Map([...weights, ['model.norm.weight', float32Tensor([13], new Float32Array(13))]]),
    );
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow(
      'weight model.norm.weight is [13], config.json says [12]',
    );
  });

  it('are refused when index and shards disagree, or the index leads out of the folder', async () => {
    const dir = await directory('index');
    await writeSafetensors(join(dir, 'a.safetensors'), weights);
    const index = async (change: Record<string, string>) => {
      const weightMap = {
        ...Object.fromEntries([...weights.keys()].map((name) => [name, 'a.safetensors'])),
        ...change,
      };
      await writeFile(join(dir, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
    };
    await index({});
    expect(await readModelWeights(dir, smallConfig)).toEqual(weights);
    await index({ more: 'a.safetensors' });
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow(
      'places more in a.safetensors, which does not hold it',
    );
    await cp(join(dir, 'a.safetensors'), join(dir, 'b.safetensors'));
    await index({ 'model.norm.weight': 'b.safetensors' });
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow(
      'places model.norm.weight in b.safetensors, but a.safetensors holds it',
    );
    await index({ 'model.norm.weight': '../a.safetensors' });
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow('is not the name of a file in this folder');
  });
});
