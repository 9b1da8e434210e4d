import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LlamaConfig } from './config';
import { streamModelWeights } from './model-weights';
import type { TensorSource } from './safetensors';
import type { ElementType } from './safetensors-header';
import { sizeOf } from './host-tensor';
import { smallConfig } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';
import { weightShapes } from './weight-shapes';

const folder = temporaryFolder();
const REGISTER = join(__dirname, '../../platform/src/testing/register.cjs');

/** 39 million weights: the largest matrix is a seventh of them. */
const config: LlamaConfig = {
  ...smallConfig,
  vocabSize: 11_000,
  hiddenSize: 512,
  layers: 9,
  heads: 8,
  kvHeads: 8,
  headDim: 64,
  intermediateSize: 1500,
};

async function checkpoint(name: string, type: ElementType, maxShardBytes: number): Promise<string> {
  const dir = join(folder(), name);
  await mkdir(dir);
  const width = type === 'F32' ? 4 : 2;
  const sources = [...weightShapes(config)].map(([weight, shape]): [string, TensorSource] => [
    weight,
    // Any bytes but a NaN's: what is measured is their number.
    { type, shape, bytes: () => Promise.resolve(new Uint8Array(sizeOf(shape) * width).fill(0x3c)) },
  ]);
  await streamModelWeights(dir, new Map(sources), { maxShardBytes });
  await writeFile(
    join(dir, 'config.json'),
    JSON.stringify({
      model_type: 'llama',
      vocab_size: config.vocabSize,
      hidden_size: config.hiddenSize,
      num_hidden_layers: config.layers,
      num_attention_heads: config.heads,
      head_dim: config.headDim,
      intermediate_size: config.intermediateSize,
      max_position_embeddings: 64,
    }),
  );
  return dir;
}

it.each([
  { name: 'bf16 in three shards', type: 'BF16', maxShardBytes: 30e6 },
  { name: 'f16 in one file', type: 'F16', maxShardBytes: 1e9 },
  { name: 'f32 in one file', type: 'F32', maxShardBytes: 1e9 },
] as const)(
  'loading takes at most 1.3 times the float32 weights: $name',
  async ({ name, type, maxShardBytes }) => {
    const dir = await checkpoint(name.replaceAll(' ', '-'), type, maxShardBytes);
    const { stdout } = await promisify(execFile)(process.execPath, [
      '-r',
      REGISTER,
      join(__dirname, 'testing/load-model.ts'),
      dir,
    ]);
    const { extra, bytes } = JSON.parse(stdout) as { extra: number; bytes: number };
    expect(bytes).toBeGreaterThan(150e6);
    expect(extra).toBeLessThan(1.3 * bytes);
    // Else nothing was measured.
    expect(extra).toBeGreaterThan(0.9 * bytes);
  },
  60_000,
);
