import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig } from './config';
import { ModelFormatError } from './errors';
import { mergeLora, initLora, loraModules } from './lora';
import { exportMerged } from './merged-export';
import { readModelWeights } from './model-weights';
import { readPeftAdapter, writePeftAdapter } from './peft-adapter';
import { readSafetensorsHeader } from './safetensors';
import { largestDifference, SEED_DIR } from './testing/models';
import { referenceDir } from './testing/reference';
import { temporaryFolder } from './testing/temporary-folder';

const folder = temporaryFolder();
const SHARDED = referenceDir('qwen3-sharded-bf16');

it('writes the merged weights, sharded, beside what else a model directory has', async () => {
  const outDir = join(folder(), 'merged');
  const progress: number[] = [];
  await exportMerged({
    baseDir: SHARDED,
    adapterDir: join(SHARDED, 'adapter'),
    outDir,
    maxShardBytes: 10_000,
    onProgress: (done, total) => progress.push(done / total),
  });
  const config = await readModelConfig(SHARDED);
  const { tensors, scale } = await readPeftAdapter(join(SHARDED, 'adapter'), config);
  const expected = mergeLora(await readModelWeights(SHARDED, config), tensors, scale);
  expect(await readModelWeights(outDir, await readModelConfig(outDir))).toEqual(expected);
  expect(progress).toEqual(Array.from({ length: expected.size }, (_, i) => (i + 1) / expected.size));

  const names = await readdir(outDir);
  expect(names).toContain('model.safetensors.index.json');
  expect(names.filter((name) => name.endsWith('.safetensors')).length).toBeGreaterThan(2);
  const file = JSON.parse(await readFile(join(outDir, 'config.json'), 'utf8')) as Record<string, unknown>;
  const base = JSON.parse(await readFile(join(SHARDED, 'config.json'), 'utf8')) as Record<string, unknown>;
  expect(file).toEqual({ ...base, dtype: 'float32' });
  expect((await readdir(folder())).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it('copies tokenizer, template and licence, and no weights or reports', async () => {
  const baseDir = join(folder(), 'base');
  await cp(SEED_DIR, baseDir, { recursive: true });
  for (const name of ['LICENSE', 'chat_template.jinja', 'generation_config.json', 'pytorch_model.bin', 'model.py'])
    await writeFile(join(baseDir, name), '{}');
  const config = await readModelConfig(baseDir);
  const adapterDir = join(folder(), 'adapter');
  const [rank, alpha] = [2, 4];
  const tensors = initLora(config, { rank, alpha, seed: 1 });
  await writePeftAdapter(adapterDir, { rank, alpha, baseModel: 'seed', targetModules: loraModules, tensors });
  const outDir = join(folder(), 'new/seed-merged');
  await exportMerged({ baseDir, adapterDir, outDir, dtype: 'bfloat16' });
  expect((await readdir(outDir)).sort()).toEqual([
    'LICENSE',
    'chat_template.jinja',
    'config.json',
    'generation_config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  const { entries } = await readSafetensorsHeader(join(outDir, 'model.safetensors'));
  expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(['BF16']));
  expect(JSON.parse(await readFile(join(outDir, 'config.json'), 'utf8'))).toMatchObject({ torch_dtype: 'bfloat16' });
  // B is zero, so that only the rounding of bfloat16 is left: at most 2⁻⁸ of each number.
  const before = await readModelWeights(baseDir, config);
  for (const [name, { data }] of await readModelWeights(outDir, config)) {
    const largest = largestDifference(data, new Float32Array(data.length));
    expect(largestDifference(data, before.get(name)!.data)).toBeLessThanOrEqual(largest * 2 ** -8);
  }
});

it('leaves nothing behind where it cannot be done, and overwrites nothing', async () => {
  const adapterDir = join(SHARDED, 'adapter');
  const outDir = join(folder(), 'never');
  const other = referenceDir('llama-scaled-rope');
  await expect(exportMerged({ baseDir: other, adapterDir, outDir })).rejects.toThrow(ModelFormatError);
  const cut = join(folder(), 'cut');
  await cp(SHARDED, cut, { recursive: true });
  const stop = new Error('stopped half-way');
  const onProgress = (done: number): void => {
    if (done === 5) throw stop;
  };
  await expect(exportMerged({ baseDir: cut, adapterDir, outDir, onProgress })).rejects.toThrow(stop);
  expect((await readdir(folder())).filter((name) => /never|tmp/.test(name))).toEqual([]);
  await expect(exportMerged({ baseDir: SHARDED, adapterDir, outDir: cut })).rejects.toThrow('is there already');
});
