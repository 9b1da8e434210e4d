import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig } from './config';
import { ModelFormatError } from './errors';
import { float32Tensor } from './host-tensor';
import { readModelWeights, writeModelWeights } from './model-weights';
import { writeSafetensors } from './safetensors';
import { madeWeights, SEED_DIR, smallConfig } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';
import { weightShapes } from './weight-shapes';

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

  it('may hold the tied head a second time, unless it is another one', async () => {
    const dir = await directory('tied');
    const tied = { ...smallConfig, tieWordEmbeddings: true };
    const embedding = weights.get('model.embed_tokens.weight')!;
    await writeModelWeights(dir, new Map([...weights, ['lm_head.weight', embedding]]));
    const read = await readModelWeights(dir, tied);
    expect([...read.keys()]).not.toContain('lm_head.weight');
    await writeModelWeights(dir, weights);
    await expect(readModelWeights(dir, tied)).rejects.toThrow(
      'lm_head.weight differs from model.embed_tokens.weight, but tie_word_embeddings is true',
    );
  });

  it('are refused as a named error where a file is cut, missing or whole numbers', async () => {
    const dir = await directory('broken');
    await writeModelWeights(dir, weights, { maxShardBytes: 3000 });
    const shard = join(dir, 'model-00002-of-00007.safetensors');
    const bytes = await readFile(shard);
    await writeFile(shard, bytes.subarray(0, -1));
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow(ModelFormatError);
    await rm(shard);
    await expect(readModelWeights(dir, smallConfig)).rejects.toThrow(ModelFormatError);
    const norm = { dtype: 'int32' as const, shape: [12], data: new Int32Array(12) };
    const other = await directory('whole-numbers');
    await writeModelWeights(other, new Map([...weights, ['model.norm.weight', norm]]));
    await expect(readModelWeights(other, smallConfig)).rejects.toThrow('weight model.norm.weight is int32');
    await expect(readModelWeights(await directory('empty'), smallConfig)).rejects.toThrow(ModelFormatError);
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
