import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig } from './config';
import { float32Tensor } from './host-tensor';
import { readModelWeights, weightShapes, writeModelWeights } from './model-weights';
import { writeSafetensors } from './safetensors';
import { madeWeights, SEED_DIR, smallConfig } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';

const folder = temporaryFolder();
const seedFile = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(SEED_DIR, 'config.json'), 'utf8'));

async function configOf(change: Record<string, unknown>) {
  await writeFile(join(folder(), 'config.json'), JSON.stringify({ ...(await seedFile()), ...change }));
  return await readModelConfig(folder());
}

describe('config.json', () => {
  it('is read for the seed model', async () => {
    expect(await readModelConfig(SEED_DIR)).toEqual({
      architecture: 'llama',
      vocabSize: 1024,
      hiddenSize: 128,
      layers: 4,
      heads: 4,
      kvHeads: 2,
      headDim: 32,
      intermediateSize: 256,
      rmsNormEps: 1e-5,
      ropeTheta: 10000,
      tieWordEmbeddings: true,
      maxPositions: 512,
      bosTokenId: 5,
      eosTokenIds: [4],
      padTokenId: 0,
      attentionBias: false,
      attentionOutputBias: false,
      mlpBias: false,
      queryKeyNorm: false,
    });
  });

  it('has the defaults of transformers: every head its own key, head size by division, theta in either place', async () => {
    const config = await configOf({
      num_key_value_heads: undefined,
      head_dim: undefined,
      rope_theta: undefined,
      rope_parameters: { rope_type: 'default', rope_theta: 5000 },
    });
    expect(config).toMatchObject({ kvHeads: 4, headDim: 32, ropeTheta: 5000 });
    expect(await configOf({ model_type: 'qwen2' })).toMatchObject({
      attentionBias: true,
      attentionOutputBias: false,
      queryKeyNorm: false,
    });
    expect(await configOf({ model_type: 'qwen3' })).toMatchObject({ attentionBias: false, queryKeyNorm: true });
    expect(await configOf({ attention_bias: true })).toMatchObject({ attentionBias: true, attentionOutputBias: true });
  });

  it('ends an answer with the tokens of both files', async () => {
    await writeFile(join(folder(), 'generation_config.json'), JSON.stringify({ eos_token_id: [7, 4] }));
    expect((await configOf({ eos_token_id: 4 })).eosTokenIds).toEqual([4, 7]);
  });

  it.each([
    { change: { model_type: 'gemma3' }, error: 'architecture "gemma3" is not supported' },
    { change: { model_type: undefined }, error: 'architecture undefined is not supported' },
    { change: { rope_scaling: { rope_type: 'yarn', factor: 8 } }, error: 'RoPE scaling "yarn" is not supported' },
    { change: { rope_scaling: { rope_type: 'llama3', factor: 8 } }, error: 'rope_scaling: low_freq_factor' },
    { change: { rope_theta: undefined }, error: 'rope_theta is missing' },
    { change: { hidden_act: 'gelu' }, error: 'hidden_act' },
    { change: { use_sliding_window: true }, error: 'use_sliding_window' },
    { change: { quantization_config: { bits: 4 } }, error: 'quantization_config' },
    { change: { num_key_value_heads: 3 }, error: '4 heads cannot share 3' },
    { change: { head_dim: 31 }, error: 'a head of 31 numbers' },
    { change: { vocab_size: '1024' }, error: 'vocab_size' },
  ])('is refused with $change', async ({ change, error }) => {
    await expect(configOf(change)).rejects.toThrow(error);
  });
});

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
