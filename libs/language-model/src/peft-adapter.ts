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
  /** rsLoRA (Kalajdzievski 2023, arXiv:2312.03732): scaled by alpha/√rank instead of alpha/rank. Default false. */
  readonly isRankStabilised?: boolean;
  /** Share of a module's inputs that the adapter did not see while it was trained, [0, 1). Default 0; engines ignore it. */
  readonly dropout?: number;
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

/** A field that changes what an adapter computes, in a form that is not plain LoRA: absent, null, false, 0 or empty only. */
const unused = z.custom<undefined>(isUnused, 'is not supported').optional();

function isUnused(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return !value;
}

const AdapterConfigFile = z.looseObject({
  peft_type: z.literal('LORA'),
  base_model_name_or_path: z
    .string()
    .nullish()
    .transform((name) => name ?? ''),
  r: z.number().int().positive(),
  lora_alpha: z.number().positive(),
  lora_dropout: z.number().min(0).lt(1).default(0),
  target_modules: z.array(z.string()).min(1),
  bias: z.literal('none').default('none'),
  use_rslora: z.boolean().default(false),
  modules_to_save: unused,
  fan_in_fan_out: unused,
  use_dora: unused,
  lora_bias: unused,
  rank_pattern: unused,
  alpha_pattern: unused,
  layer_replication: unused,
  trainable_token_indices: unused,
  target_parameters: unused,
  alora_invocation_tokens: unused,
  use_qalora: unused,
  use_bdlora: unused,
  arrow_config: unused,
  kasa_config: unused,
});

/**
 * Reads an adapter; `scale` is alpha/rank, or alpha/√rank where the file asks for rank-stabilised LoRA. With `config`, every matrix
 * must fit that model. Refuses (ModelFormatError) what is not plain LoRA: DoRA, saved modules, biases, ranks per layer.
 */
export async function readPeftAdapter(
  dir: string,
  config?: LlamaConfig,
): Promise<Required<PeftAdapter> & { readonly scale: number }> {
  const path = join(dir, CONFIG);
  const parsed = AdapterConfigFile.safeParse(await readJson(path));
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const file = parsed.data;
  const adapter: Required<PeftAdapter> = {
    rank: file.r,
    alpha: file.lora_alpha,
    baseModel: file.base_model_name_or_path,
    targetModules: file.target_modules,
    isRankStabilised: file.use_rslora,
    dropout: file.lora_dropout,
    tensors: await readSafetensors(join(dir, WEIGHTS)),
  };
  try {
    assertAdapter(adapter);
    if (config) assertFits(adapter, config);
  } catch (cause) {
    throw new ModelFormatError(dir, cause instanceof Error ? cause.message : 'not an adapter', { cause });
  }
  return { ...adapter, scale: scaleOf(adapter) };
}

function scaleOf({ rank, alpha, isRankStabilised }: Required<PeftAdapter>): number {
  return alpha / (isRankStabilised ? Math.sqrt(rank) : rank);
}

async function writeFiles(dir: string, adapter: PeftAdapter): Promise<void> {
  const { rank, alpha, baseModel, targetModules, isRankStabilised = false, dropout = 0, tensors } = adapter;
  await writeSafetensors(join(dir, WEIGHTS), tensors, { format: 'pt' });
  // What peft writes of a plain adapter. vLLM needs r, lora_alpha and target_modules, and reads bias, modules_to_save, use_rslora and
  // use_dora; SGLang reads the first three, peft_type and the patterns.
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    auto_mapping: null,
    base_model_name_or_path: baseModel,
    revision: null,
    inference_mode: true,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: dropout,
    target_modules: targetModules,
    bias: 'none',
    use_rslora: isRankStabilised,
    use_dora: false,
    fan_in_fan_out: false,
    init_lora_weights: true,
    modules_to_save: null,
    layers_to_transform: null,
    layers_pattern: null,
    rank_pattern: {},
    alpha_pattern: {},
  };
  await writeAtomically(join(dir, CONFIG), `${JSON.stringify(config, null, 2)}\n`);
}

function assertAdapter({ rank, targetModules, dropout = 0, tensors }: PeftAdapter): void {
  if (!(dropout >= 0 && dropout < 1)) throw new RangeError(`a dropout of ${dropout} is not in [0, 1)`);
  const found = new Set<string>();
  for (const { module, a, b } of loraPairs(tensors)) {
    if (a.shape[0] !== rank) throw new RangeError(`${module}: rank ${a.shape[0]}, the adapter's is ${rank}`);
    // A target may be a whole name, or the end of one.
    const target = targetModules.find((name) => module === name || module.endsWith(`.${name}`));
    if (target === undefined) throw new RangeError(`${module} is adapted, but is not in the target modules`);
    found.add(target);
    for (const { data } of [a, b])
      if (!data.every(Number.isFinite)) throw new RangeError(`${module}: a number is not finite`);
  }
  for (const target of targetModules)
    if (!found.has(target)) throw new RangeError(`target module ${target} has no matrices`);
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
