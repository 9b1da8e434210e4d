import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { flushDirectory, temporarySibling, writeAtomically } from './atomic-file';
import { Checkpoint } from './checkpoint';
import { readJson, readModelConfig, type LlamaConfig } from './config';
import { narrowToBfloat16 } from './half';
import { loraPairs, mergedWeight } from './lora';
import { copyCompanionFiles } from './model-files';
import { streamModelWeights } from './model-weights';
import { readPeftAdapter } from './peft-adapter';
import type { TensorSource } from './safetensors';
import { weightShapes } from './weight-shapes';

export interface MergedExport {
  /** Folder of the base model, Hugging Face format. */
  readonly baseDir: string;
  /** Folder of the PEFT adapter. */
  readonly adapterDir: string;
  /** Folder to write, which must not be there yet; it appears whole, by one rename. */
  readonly outDir: string;
  /** How numbers are stored. float32 is exact; bfloat16 takes half the room and rounds what the adapter added. Default float32. */
  readonly dtype?: 'float32' | 'bfloat16';
  /** Largest file of weights, bytes. Default: 5 GB. */
  readonly maxShardBytes?: number;
  /** Called after each weight. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Writes base model and adapter as one model directory: W + scale · B·A for every adapted matrix, config.json, tokenizer, template
 * and licence of the base. One weight is in memory at a time. Throws a ModelFormatError for a base or an adapter that cannot be
 * read or do not fit, a RangeError when `outDir` is there.
 */
export async function exportMerged(options: MergedExport): Promise<void> {
  const { baseDir, adapterDir, dtype = 'float32' } = options;
  const outDir = resolve(options.outDir);
  if (existsSync(outDir)) throw new RangeError(`${outDir} is there already`);
  const config = await readModelConfig(baseDir);
  const adapter = await readPeftAdapter(adapterDir, config);
  const checkpoint = await Checkpoint.open(baseDir, config);
  const temporary = temporarySibling(outDir);
  try {
    await mkdir(temporary, { recursive: true });
    const sources = mergedSources(config, checkpoint, adapter, options);
    const { maxShardBytes } = options;
    await streamModelWeights(temporary, sources, maxShardBytes === undefined ? {} : { maxShardBytes });
    await copyCompanionFiles(baseDir, temporary);
    await writeAtomically(join(temporary, 'config.json'), await configText(join(baseDir, 'config.json'), dtype));
    await rename(temporary, outDir);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  } finally {
    await checkpoint.close();
  }
  await flushDirectory(dirname(outDir));
}

function mergedSources(
  config: LlamaConfig,
  checkpoint: Checkpoint,
  { tensors, scale }: Pick<Awaited<ReturnType<typeof readPeftAdapter>>, 'tensors' | 'scale'>,
  { dtype, onProgress }: Pick<MergedExport, 'dtype' | 'onProgress'>,
): Map<string, TensorSource> {
  const pairs = new Map(loraPairs(tensors).map((pair) => [`${pair.module}.weight`, pair]));
  const shapes = weightShapes(config);
  let done = 0;
  const bytesOf = async (name: string): Promise<Uint8Array> => {
    const weight = await checkpoint.read(name);
    const pair = pairs.get(name);
    const data = (pair ? mergedWeight(weight, pair, scale) : weight).data as Float32Array;
    const stored = dtype === 'bfloat16' ? narrowToBfloat16(data) : data;
    onProgress?.(++done, shapes.size);
    return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  };
  return new Map(
    [...shapes].map(([name, shape]) => [
      name,
      { type: dtype === 'bfloat16' ? 'BF16' : 'F32', shape, bytes: () => bytesOf(name) },
    ]),
  );
}

/** The base's config.json, which says what its numbers are stored as: under `dtype` from transformers 5 on, `torch_dtype` before. */
async function configText(path: string, dtype: string): Promise<string> {
  const file = (await readJson(path)) as Record<string, unknown>;
  const key = 'dtype' in file ? 'dtype' : 'torch_dtype';
  return `${JSON.stringify({ ...file, [key]: dtype }, null, 2)}\n`;
}
