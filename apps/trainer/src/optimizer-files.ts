import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  readSafetensors,
  readSafetensorsHeader,
  sizeOf,
  writeSafetensors,
  type HostTensor,
} from '@hindcast/language-model';
import type { AdamState } from './core/adam';
import type { TrainedWeights } from './core/tuning';

/** Beside the weights, in a folder of its own: engines read every safetensors file of the folder that they load. */
const FOLDER = 'optimizer';
const SHARD_BYTES = 5e9;

/**
 * Writes the moments of Adam, `first.<name>` and `second.<name>` of each weight's shape, with the number of steps as metadata. More than
 * `maxShardBytes` are cut into several files.
 */
export async function writeOptimizer(
  folder: string,
  weights: TrainedWeights,
  optimizer: AdamState,
  maxShardBytes = SHARD_BYTES,
): Promise<void> {
  const path = join(folder, FOLDER);
  await mkdir(path);
  const shards = shardsOf(weights, optimizer, maxShardBytes);
  for (const [index, shard] of shards.entries()) {
    const name = shards.length === 1 ? 'optimizer' : `optimizer-${padded(index + 1)}-of-${padded(shards.length)}`;
    await writeSafetensors(join(path, `${name}.safetensors`), shard, { step: String(optimizer.step) });
  }
}

/** @throws RangeError when the files do not hold both moments of every weight */
export async function readOptimizer(folder: string, weights: TrainedWeights): Promise<AdamState> {
  const path = join(folder, FOLDER);
  const steps = new Set<number>();
  const found = new Map<string, HostTensor>();
  for (const name of (await readdir(path)).filter((file) => file.endsWith('.safetensors')).sort()) {
    const file = join(path, name);
    steps.add(Number((await readSafetensorsHeader(file)).metadata['step']));
    for (const [tensor, value] of await readSafetensors(file)) found.set(tensor, value);
  }
  const [step] = steps;
  if (steps.size !== 1 || !Number.isInteger(step)) throw new RangeError(`${path} does not say its step`);
  const moments = (kind: 'first' | 'second'): ReadonlyMap<string, Float32Array> =>
    new Map([...weights].map(([name, { shape }]) => [name, moment(path, found, `${kind}.${name}`, shape)]));
  return { step: step!, first: moments('first'), second: moments('second') };
}

function moment(
  path: string,
  found: ReadonlyMap<string, HostTensor>,
  name: string,
  shape: readonly number[],
): Float32Array {
  const tensor = found.get(name);
  if (tensor?.dtype !== 'float32' || String(tensor.shape) !== String(shape))
    throw new RangeError(`${path} does not hold ${name} of shape [${shape.join(', ')}] as float32`);
  return tensor.data;
}

function shardsOf(
  weights: TrainedWeights,
  optimizer: AdamState,
  maxShardBytes: number,
): ReadonlyMap<string, HostTensor>[] {
  const shards: Map<string, HostTensor>[] = [];
  let room = 0;
  for (const [name, { shape }] of weights) {
    const bytes = 2 * 4 * sizeOf(shape);
    if (shards.length === 0 || bytes > room) {
      shards.push(new Map());
      room = maxShardBytes;
    }
    room -= bytes;
    for (const kind of ['first', 'second'] as const)
      shards.at(-1)!.set(`${kind}.${name}`, { dtype: 'float32', shape, data: optimizer[kind].get(name)! });
  }
  return shards;
}

const padded = (number: number): string => String(number).padStart(5, '0');
