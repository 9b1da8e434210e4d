import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { flushDirectory, temporarySibling, writeAtomically } from './atomic-file';
import { readJson, type LlamaConfig } from './config';
import { ModelFormatError } from './errors';
import type { HostTensor } from './host-tensor';
import { loraPairs } from './lora';
import { weightShapes } from './weight-shapes';
import { readSafetensors, writeSafetensors } from './safetensors';

const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';

/** A LoRA adapter in the files of PEFT, as vLLM, SGLang and transformers load them. */
export interface PeftAdapter {
  readonly rank: number;
  readonly alpha: number;
  /** Name or path of the base model. */
  readonly baseModel: string;
  /** Short names: `q_proj`, … */
  readonly targetModules: readonly string[];
  /** By PEFT name: `base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight` `[rank, in]`, `lora_B` `[out, rank]`. */
  readonly tensors: ReadonlyMap<string, HostTensor>;
}

/**
 * Writes `adapter_config.json` and `adapter_model.safetensors`. A folder that is not there appears whole, by one rename; in one that
 * is, each file is replaced whole, the weights first. Throws a RangeError for tensors that do not match the rest, or are not finite.
 */
export async function writePeftAdapter(dir: string, adapter: PeftAdapter): Promise<void> {
  assertAdapter(adapter);
  if (existsSync(dir)) return await writeFiles(dir, adapter);
  await mkdir(dirname(dir), { recursive: true });
  const temporary = temporarySibling(dir);
  try {
    await mkdir(temporary);
    await writeFiles(temporary, adapter);
    await rename(temporary, dir);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await flushDirectory(dirname(dir));
}

const AdapterConfigFile = z.looseObject({
  peft_type: z.literal('LORA'),
  base_model_name_or_path: z
    .string()
    .nullish()
    .transform((name) => name ?? ''),
  r: z.number().int().positive(),
  lora_alpha: z.number().positive(),
  target_modules: z.array(z.string()).min(1),
  bias: z.literal('none').default('none'),
  modules_to_save: z.array(z.string()).max(0).nullish(),
  fan_in_fan_out: z.literal(false).default(false),
  use_rslora: z.boolean().default(false),
  use_dora: z.literal(false).default(false),
  rank_pattern: z.record(z.string(), z.never()).default({}),
  alpha_pattern: z.record(z.string(), z.never()).default({}),
});

/**
 * Reads an adapter; `scale` is alpha/rank, or alpha/√rank where the file asks for rank-stabilised LoRA. With `config`, every matrix
 * must fit that model. Refuses (ModelFormatError) what is not plain LoRA: DoRA, saved modules, biases, ranks per layer.
 */
export async function readPeftAdapter(
  dir: string,
  config?: LlamaConfig,
): Promise<PeftAdapter & { readonly scale: number }> {
  const path = join(dir, CONFIG);
  const parsed = AdapterConfigFile.safeParse(await readJson(path));
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const file = parsed.data;
  const tensors = await readSafetensors(join(dir, WEIGHTS));
  const adapter: PeftAdapter = {
    rank: file.r,
    alpha: file.lora_alpha,
    baseModel: file.base_model_name_or_path,
    targetModules: file.target_modules,
    tensors,
  };
  try {
    assertAdapter(adapter);
    if (config) assertFits(adapter, config);
  } catch (cause) {
    throw new ModelFormatError(dir, cause instanceof Error ? cause.message : 'not an adapter', { cause });
  }
  return { ...adapter, scale: file.use_rslora ? file.lora_alpha / Math.sqrt(file.r) : file.lora_alpha / file.r };
}

async function writeFiles(dir: string, { rank, alpha, baseModel, targetModules, tensors }: PeftAdapter): Promise<void> {
  await writeSafetensors(join(dir, WEIGHTS), tensors, { format: 'pt' });
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    bias: 'none',
    target_modules: targetModules,
    modules_to_save: null,
    fan_in_fan_out: false,
    inference_mode: true,
    use_rslora: false,
    use_dora: false,
  };
  await writeAtomically(join(dir, CONFIG), `${JSON.stringify(config, null, 2)}\n`);
}

function assertAdapter({ rank, targetModules, tensors }: PeftAdapter): void {
  const found = new Set<string>();
  for (const { module, a, b } of loraPairs(tensors)) {
    if (a.shape[0] !== rank) throw new RangeError(`${module}: rank ${a.shape[0]}, the adapter's is ${rank}`);
    const short = module.slice(module.lastIndexOf('.') + 1);
    if (!targetModules.includes(short))
      throw new RangeError(`${module} is adapted, but ${short} is not in the target modules`);
    found.add(short);
    for (const { data } of [a, b])
      if (!data.every(Number.isFinite)) throw new RangeError(`${module}: a number is not finite`);
  }
  for (const short of targetModules)
    if (!found.has(short)) throw new RangeError(`target module ${short} has no matrices`);
}

function assertFits({ tensors }: PeftAdapter, config: LlamaConfig): void {
  const shapes = weightShapes(config);
  for (const { module, a, b } of loraPairs(tensors)) {
    const shape = shapes.get(`${module}.weight`);
    if (!shape) throw new RangeError(`the model has no ${module}`);
    if (String(shape) !== String([b.shape[0], a.shape[1]]))
      throw new RangeError(
        `${module}: an adapter for [${b.shape[0]}, ${a.shape[1]}], the weight is [${shape.join(', ')}]`,
      );
  }
}
