import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  float32Tensor,
  mulberry32,
  readModelConfig,
  sizeOf,
  weightShapes,
  writeModelWeights,
} from '@hindcast/language-model';
import { SEED_MODEL } from './fixtures';

/** A model directory of one narrow block with the seed model's tokenizer, for runs of many steps or many starts. */
export async function writeTinyModel(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(SEED_MODEL, name), join(folder, name));
  const seed = JSON.parse(readFileSync(join(SEED_MODEL, 'config.json'), 'utf8')) as object;
  const size = { hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 2, num_key_value_heads: 1, head_dim: 8 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...seed, ...size, intermediate_size: 16 }));
  const random = mulberry32(1);
  const weights = [...weightShapes(await readModelConfig(folder))].map(([name, shape]) => {
    const [centre, width] = name.includes('norm') ? [1, 0.2] : [0, 0.4];
    const values = Float32Array.from({ length: sizeOf(shape) }, () => centre + width * (2 * random() - 1));
    return [name, float32Tensor(shape, values)] as const;
  });
  await writeModelWeights(folder, new Map(weights));
  return folder;
}
