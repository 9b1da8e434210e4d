import { join } from 'node:path';
import { writeAtomically } from './atomic-file';
import { Checkpoint, INDEX, SINGLE } from './checkpoint';
import type { LlamaConfig } from './config';
import { sizeOf, type HostTensor } from './host-tensor';
import { streamSafetensors, type TensorSource } from './safetensors';
import { elementBytes } from './safetensors-header';
import { weightShapes } from './weight-shapes';

/**
 * Reads the weights of a model directory, see `Checkpoint`, one after the other: in memory are the float32 weights and a few
 * megabytes.
 */
export async function readModelWeights(dir: string, config: LlamaConfig): Promise<Map<string, HostTensor>> {
  const checkpoint = await Checkpoint.open(dir, config);
  try {
    const weights = new Map<string, HostTensor>();
    for (const name of weightShapes(config).keys()) weights.set(name, await checkpoint.read(name));
    return weights;
  } finally {
    await checkpoint.close();
  }
}

/** Writes weights as float32, see `streamModelWeights`. */
export async function writeModelWeights(
  dir: string,
  weights: ReadonlyMap<string, HostTensor>,
  options: { maxShardBytes?: number } = {},
): Promise<void> {
  const sources = [...weights].map(([name, { dtype, shape, data }]): [string, TensorSource] => [
    name,
    {
      type: dtype === 'float32' ? 'F32' : 'I32',
      shape,
      bytes: () => Promise.resolve(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
    },
  ]);
  await streamModelWeights(dir, new Map(sources), options);
}

/**
 * Writes weights as `model.safetensors`, or, beyond `maxShardBytes`, as numbered shards with their index, written last: a reader
 * that finds an index finds its shards. One weight is in memory at a time. Write into a folder of its own and rename that.
 */
export async function streamModelWeights(
  dir: string,
  weights: ReadonlyMap<string, TensorSource>,
  options: { maxShardBytes?: number } = {},
): Promise<void> {
  const shards = splitIntoShards(weights, options.maxShardBytes ?? 5e9);
  const metadata = { format: 'pt' };
  if (shards.length <= 1) return await streamSafetensors(join(dir, SINGLE), weights, metadata);
  const weightMap: Record<string, string> = {};
  for (const [index, shard] of shards.entries()) {
    const file = `model-${pad(index + 1)}-of-${pad(shards.length)}.safetensors`;
    await streamSafetensors(join(dir, file), shard, metadata);
    for (const name of shard.keys()) weightMap[name] = file;
  }
  const totalSize = [...weights.values()].reduce((total, source) => total + bytesOf(source), 0);
  await writeAtomically(
    join(dir, INDEX),
    JSON.stringify({ metadata: { total_size: totalSize }, weight_map: weightMap }, null, 2),
  );
}

function bytesOf({ type, shape }: TensorSource): number {
  return sizeOf(shape) * elementBytes[type];
}

function splitIntoShards(
  weights: ReadonlyMap<string, TensorSource>,
  maxShardBytes: number,
): Map<string, TensorSource>[] {
  const shards: Map<string, TensorSource>[] = [];
  let room = 0;
  for (const [name, source] of weights) {
    const bytes = bytesOf(source);
    if (shards.length === 0 || bytes > room) {
      shards.push(new Map());
      room = maxShardBytes;
    }
    shards.at(-1)?.set(name, source);
    room -= bytes;
  }
  return shards;
}

function pad(number: number): string {
  return String(number).padStart(5, '0');
}
