import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { initLora, loraModules } from './lora';
import { readPeftAdapter, writePeftAdapter, type PeftAdapter } from './peft-adapter';
import { readSafetensorsHeader } from './safetensors';
import { smallConfig } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';

const folder = temporaryFolder();
const adapter: PeftAdapter = {
  rank: 4,
  alpha: 8,
  baseModel: 'models/small',
  targetModules: loraModules,
  tensors: initLora(smallConfig, { rank: 4, alpha: 8, seed: 1 }),
};
const write = async (name: string): Promise<string> => {
  const dir = join(folder(), name);
  await writePeftAdapter(dir, adapter);
  return dir;
};

describe('a PEFT adapter', () => {
  it('comes back as it was written', async () => {
    const dir = await write('round-trip');
    expect(await readPeftAdapter(dir, smallConfig)).toEqual({
      ...adapter,
      targetModules: [...loraModules],
      isRankStabilised: false,
      dropout: 0,
      tensors: adapter.tensors,
      scale: 2,
    });
  });

  it('comes back with the scaling and the dropout that it was trained with', async () => {
    const dir = join(folder(), 'rank-stabilised');
    await writePeftAdapter(dir, { ...adapter, isRankStabilised: true, dropout: 0.05 });
    const file = JSON.parse(await readFile(join(dir, 'adapter_config.json'), 'utf8'));
    expect(file).toMatchObject({ use_rslora: true, lora_dropout: 0.05, r: 4, lora_alpha: 8 });
    expect(await readPeftAdapter(dir)).toMatchObject({ isRankStabilised: true, dropout: 0.05, scale: 4 });
  });

  it('has the two files, keys and fields that PEFT and vLLM expect, and nothing else', async () => {
    const dir = await write('files');
    expect((await readdir(dir)).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    expect((await readdir(folder())).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(JSON.parse(await readFile(join(dir, 'adapter_config.json'), 'utf8'))).toEqual({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      auto_mapping: null,
      base_model_name_or_path: 'models/small',
      revision: null,
      inference_mode: true,
      r: 4,
      lora_alpha: 8,
      lora_dropout: 0,
      target_modules: [...loraModules],
      bias: 'none',
      use_rslora: false,
      use_dora: false,
      fan_in_fan_out: false,
      init_lora_weights: true,
      modules_to_save: null,
      layers_to_transform: null,
      layers_pattern: null,
      rank_pattern: {},
      alpha_pattern: {},
    });
    const { entries, metadata } = await readSafetensorsHeader(join(dir, 'adapter_model.safetensors'));
    expect(metadata).toEqual({ format: 'pt' });
    const byName = new Map(entries.map(({ name, shape, type }) => [name, { shape, type }]));
    expect(byName.get('base_model.model.model.layers.1.mlp.down_proj.lora_A.weight')).toEqual({
      shape: [4, 20],
      type: 'F32',
    });
    expect(byName.get('base_model.model.model.layers.1.mlp.down_proj.lora_B.weight')).toEqual({
      shape: [12, 4],
      type: 'F32',
    });
  });

  it('is written into a folder that is there already, beside what it holds', async () => {
    const dir = await write('twice');
    await writeFile(join(dir, 'manifest.json'), '{}');
    await writePeftAdapter(dir, { ...adapter, alpha: 16 });
    expect((await readPeftAdapter(dir)).scale).toBe(4);
    expect(await readdir(dir)).toContain('manifest.json');
  });

  it.each([
    { why: 'another rank', change: { rank: 5 }, error: "rank 4, the adapter's is 5" },
    {
      why: 'a module that is not a target',
      change: { targetModules: ['q_proj'] },
      error: 'is not in the target modules',
    },
    {
      why: 'a target without matrices',
      change: { targetModules: [...loraModules, 'lm_head'] },
      error: 'lm_head has no matrices',
    },
    { why: 'a dropout of everything', change: { dropout: 1 }, error: 'a dropout of 1 is not in [0, 1)' },
    {
      why: 'NaN',
      change: {
        tensors: new Map(
          [...adapter.tensors].map(([name, tensor]) => [
            name,
            { ...tensor, data: new Float32Array(tensor.data.length).fill(NaN) },
          ]),
        ),
      },
      error: 'not finite',
    },
  ])('is not written with $why', async ({ change, error }) => {
    await expect(
      writePeftAdapter(join(folder(), 'never'), { ...adapter, ...(change as Partial<PeftAdapter>) }),
    ).rejects.toThrow(error);
    expect(await readdir(folder())).not.toContain('never');
  });

  it.each([
    { change: { use_dora: true }, error: 'use_dora' },
    { change: { modules_to_save: ['lm_head'] }, error: 'modules_to_save' },
    { change: { bias: 'all' }, error: 'bias' },
    { change: { peft_type: 'IA3' }, error: 'peft_type' },
    { change: { rank_pattern: { q_proj: 2 } }, error: 'rank_pattern' },
    { change: { alpha_pattern: { q_proj: 2 } }, error: 'alpha_pattern' },
    { change: { lora_bias: true }, error: 'lora_bias' },
    { change: { layer_replication: [[0, 2]] }, error: 'layer_replication' },
    { change: { trainable_token_indices: [3] }, error: 'trainable_token_indices' },
    { change: { target_parameters: ['experts.gate_up_proj'] }, error: 'target_parameters' },
    { change: { alora_invocation_tokens: [1] }, error: 'alora_invocation_tokens' },
    { change: { use_qalora: true }, error: 'use_qalora' },
    { change: { fan_in_fan_out: true }, error: 'fan_in_fan_out' },
    { change: { lora_dropout: 1 }, error: 'lora_dropout' },
    { change: { target_modules: 'all-linear' }, error: 'target_modules' },
    { change: { r: undefined }, error: 'r: ' },
    { change: { r: 2 }, error: "rank 4, the adapter's is 2" },
  ])('is refused with $change', async ({ change, error }) => {
    const dir = await write(`refused-${Object.keys(change)[0]}`);
    const path = join(dir, 'adapter_config.json');
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...change }));
    await expect(readPeftAdapter(dir)).rejects.toThrow(error);
  });

  it('may name its targets whole', async () => {
    const dir = join(folder(), 'whole-names');
    const target = 'model.layers.1.self_attn.q_proj';
    const tensors = new Map([...adapter.tensors].filter(([name]) => name.includes(target)));
    await writePeftAdapter(dir, { ...adapter, targetModules: [target], tensors });
    expect((await readPeftAdapter(dir, smallConfig)).tensors.size).toBe(2);
  });

  it('is refused by a model of other shapes, and scaled by √rank where it says so', async () => {
    const dir = await write('other');
    await expect(readPeftAdapter(dir, { ...smallConfig, intermediateSize: 24 })).rejects.toThrow(
      'the weight is [12, 24]',
    );
    const path = join(dir, 'adapter_config.json');
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), use_rslora: true }));
    expect((await readPeftAdapter(dir)).scale).toBe(4);
  });
});
