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
      tensors: adapter.tensors,
      scale: 2,
    });
  });

  it('has the two files, keys and fields that PEFT and vLLM expect, and nothing else', async () => {
    const dir = await write('files');
    expect((await readdir(dir)).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    expect((await readdir(folder())).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(JSON.parse(await readFile(join(dir, 'adapter_config.json'), 'utf8'))).toEqual({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: 'models/small',
      r: 4,
      lora_alpha: 8,
      lora_dropout: 0,
      bias: 'none',
      target_modules: [...loraModules],
      modules_to_save: null,
      fan_in_fan_out: false,
      inference_mode: true,
      use_rslora: false,
      use_dora: false,
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
    { change: { r: undefined }, error: 'r: ' },
    { change: { r: 2 }, error: "rank 4, the adapter's is 2" },
  ])('is refused with $change', async ({ change, error }) => {
    const dir = await write(`refused-${Object.keys(change)[0]}`);
    const path = join(dir, 'adapter_config.json');
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...change }));
    await expect(readPeftAdapter(dir)).rejects.toThrow(error);
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
