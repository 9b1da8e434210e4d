import { existsSync } from 'node:fs';
import { join, basename } from 'node:path';
import { z } from 'zod';
import { readJson, type LlamaConfig } from './config';
import { ModelFormatError } from './errors';
import { sizeOf, type HostTensor } from './host-tensor';
import { readSafetensors, writeSafetensors } from './safetensors';
import { writeAtomically } from './atomic-file';

const INDEX = 'model.safetensors.index.json';
const SINGLE = 'model.safetensors';
const IndexFile = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

/** Every weight that the forward pass reads, by its Hugging Face name, with its shape. Matrices are `[out, in]`. */
export function weightShapes(config: LlamaConfig): Map<string, readonly number[]> {
  const { hiddenSize, headDim, intermediateSize, vocabSize } = config;
  const queries = config.heads * headDim;
  const keys = config.kvHeads * headDim;
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabSize, hiddenSize]]]);
  const linear = (name: string, out: number, into: number, hasBias: boolean): void => {
    shapes.set(`${name}.weight`, [out, into]);
    if (hasBias) shapes.set(`${name}.bias`, [out]);
  };
  for (let layer = 0; layer < config.layers; layer++) {
    const at = `model.layers.${layer}.`;
    shapes.set(`${at}input_layernorm.weight`, [hiddenSize]);
    linear(`${at}self_attn.q_proj`, queries, hiddenSize, config.attentionBias);
    linear(`${at}self_attn.k_proj`, keys, hiddenSize, config.attentionBias);
    linear(`${at}self_attn.v_proj`, keys, hiddenSize, config.attentionBias);
    linear(`${at}self_attn.o_proj`, hiddenSize, queries, config.attentionOutputBias);
    if (config.queryKeyNorm) {
      shapes.set(`${at}self_attn.q_norm.weight`, [headDim]);
      shapes.set(`${at}self_attn.k_norm.weight`, [headDim]);
    }
    shapes.set(`${at}post_attention_layernorm.weight`, [hiddenSize]);
    linear(`${at}mlp.gate_proj`, intermediateSize, hiddenSize, config.mlpBias);
    linear(`${at}mlp.up_proj`, intermediateSize, hiddenSize, config.mlpBias);
    linear(`${at}mlp.down_proj`, hiddenSize, intermediateSize, config.mlpBias);
  }
  shapes.set('model.norm.weight', [hiddenSize]);
  if (!config.tieWordEmbeddings) shapes.set('lm_head.weight', [vocabSize, hiddenSize]);
  return shapes;
}

/**
 * Reads the weights of a model directory, sharded or not, and checks them against the configuration: each one there, float,
 * of its shape. What the forward pass does not read (an untied copy of the embedding, rotation buffers) is left out.
 */
export async function readModelWeights(dir: string, config: LlamaConfig): Promise<Map<string, HostTensor>> {
  const found = await readAllTensors(dir);
  const weights = new Map<string, HostTensor>();
  for (const [name, shape] of weightShapes(config)) {
    const tensor = found.get(name);
    if (!tensor) throw new ModelFormatError(dir, `weight ${name} is missing`);
    if (tensor.dtype !== 'float32') throw new ModelFormatError(dir, `weight ${name} is ${tensor.dtype}`);
    if (String(tensor.shape) !== String(shape))
      throw new ModelFormatError(
        dir,
        `weight ${name} is [${tensor.shape.join(', ')}], config.json says [${shape.join(', ')}]`,
      );
    weights.set(name, tensor);
  }
  return weights;
}

/**
 * Writes weights as `model.safetensors`, or, beyond `maxShardBytes`, as numbered shards with their index, written last: a reader
 * that finds an index finds its shards. Write into a folder of its own and rename that.
 */
export async function writeModelWeights(
  dir: string,
  weights: ReadonlyMap<string, HostTensor>,
  options: { maxShardBytes?: number } = {},
): Promise<void> {
  const shards = splitIntoShards(weights, options.maxShardBytes ?? 5e9);
  const metadata = { format: 'pt' };
  if (shards.length <= 1) return await writeSafetensors(join(dir, SINGLE), weights, metadata);
  const weightMap: Record<string, string> = {};
  for (const [index, shard] of shards.entries()) {
    const file = `model-${pad(index + 1)}-of-${pad(shards.length)}.safetensors`;
    await writeSafetensors(join(dir, file), shard, metadata);
    for (const name of shard.keys()) weightMap[name] = file;
  }
  const totalSize = [...weights.values()].reduce((bytes, { shape }) => bytes + 4 * sizeOf(shape), 0);
  await writeAtomically(
    join(dir, INDEX),
    JSON.stringify({ metadata: { total_size: totalSize }, weight_map: weightMap }, null, 2),
  );
}

async function readAllTensors(dir: string): Promise<Map<string, HostTensor>> {
  const path = join(dir, INDEX);
  if (!existsSync(path)) return await readSafetensors(join(dir, SINGLE));
  const parsed = IndexFile.safeParse(await readJson(path));
  if (!parsed.success) throw new ModelFormatError(path, 'weight_map is not an object of file names');
  const weightMap = parsed.data.weight_map;
  const tensors = new Map<string, HostTensor>();
  const files = new Set(Object.values(weightMap));
  for (const file of files)
    if (file !== basename(file))
      throw new ModelFormatError(path, `${JSON.stringify(file)} is not the name of a file in this folder`);
  for (const file of files) {
    for (const [name, tensor] of await readSafetensors(join(dir, file))) {
      if (weightMap[name] !== file)
        throw new ModelFormatError(path, `places ${name} in ${weightMap[name]}, but ${file} holds it`);
      tensors.set(name, tensor);
    }
  }
  for (const [name, file] of Object.entries(weightMap))
    if (!tensors.has(name)) throw new ModelFormatError(path, `places ${name} in ${file}, which does not hold it`);
  return tensors;
}

function splitIntoShards(weights: ReadonlyMap<string, HostTensor>, maxShardBytes: number): Map<string, HostTensor>[] {
  const shards: Map<string, HostTensor>[] = [];
  let room = 0;
  for (const [name, tensor] of weights) {
    const bytes = tensor.data.byteLength;
    if (shards.length === 0 || bytes > room) {
      shards.push(new Map());
      room = maxShardBytes;
    }
    shards.at(-1)?.set(name, tensor);
    room -= bytes;
  }
  return shards;
}

function pad(number: number): string {
  return String(number).padStart(5, '0');
}
