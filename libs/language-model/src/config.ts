import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ModelFormatError } from './errors';

/** A decoder of the LLaMA family, from a Hugging Face `config.json`. */
export interface LlamaConfig {
  readonly architecture: 'llama' | 'qwen2' | 'qwen3';
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Key/value heads; each serves `heads / kvHeads` query heads (grouped-query attention). */
  readonly kvHeads: number;
  readonly headDim: number;
  readonly intermediateSize: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  /** Stretched rotation of Llama 3.1 and later. */
  readonly ropeScaling?: Llama3RopeScaling;
  /** The output layer is the embedding matrix; otherwise `lm_head.weight`. */
  readonly tieWordEmbeddings: boolean;
  readonly maxPositions: number;
  readonly bosTokenId: number | null;
  /** Every id that ends an answer: of config.json and of generation_config.json. */
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number | null;
  /** q, k and v projections carry a bias (Qwen2, or LLaMA's `attention_bias`). */
  readonly attentionBias: boolean;
  /** So does the output projection (LLaMA's `attention_bias` only). */
  readonly attentionOutputBias: boolean;
  readonly mlpBias: boolean;
  /** RMS norm over each query and key head before the rotation (Qwen3). */
  readonly queryKeyNorm: boolean;
}

/** `rope_scaling` of type `llama3`: slow rotations are slowed by `factor`, fast ones kept, those between blended. */
export interface Llama3RopeScaling {
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalMaxPositions: number;
}

const count = z.number().int().positive();
const tokenId = z.number().int().nonnegative();
const tokenIds = z
  .union([tokenId, z.array(tokenId)])
  .nullish()
  .transform((value) => (typeof value === 'number' ? [value] : (value ?? [])));
const rope = z
  .looseObject({
    rope_type: z.string().optional(),
    type: z.string().optional(),
    rope_theta: z.number().positive().optional(),
  })
  .nullish();
const Llama3Rope = z.looseObject({
  factor: z.number().positive(),
  low_freq_factor: z.number().positive(),
  high_freq_factor: z.number().positive(),
  original_max_position_embeddings: count,
});

const ConfigFile = z.looseObject({
  model_type: z.enum(['llama', 'qwen2', 'qwen3']),
  hidden_act: z.literal('silu'),
  vocab_size: count,
  hidden_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  intermediate_size: count,
  rms_norm_eps: z.number().positive(),
  rope_theta: z.number().positive().optional(),
  rope_scaling: rope,
  rope_parameters: rope,
  tie_word_embeddings: z.boolean().default(false),
  max_position_embeddings: count,
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  use_sliding_window: z.literal(false).optional(),
  quantization_config: z.undefined().optional(),
  bos_token_id: tokenId.nullish(),
  eos_token_id: tokenIds,
  pad_token_id: tokenId.nullish(),
});

/**
 * Reads `config.json` (and `generation_config.json` for more end tokens). Refuses, by name, what the forward pass does not
 * compute: another architecture, RoPE scaling other than Llama 3's, sliding windows, quantised weights, another activation.
 */
export async function readModelConfig(dir: string): Promise<LlamaConfig> {
  const path = join(dir, 'config.json');
  const value = await readJson(path);
  const modelType = (value as { model_type?: unknown } | null)?.model_type;
  if (!ConfigFile.shape.model_type.safeParse(modelType).success)
    throw new ModelFormatError(
      path,
      `architecture ${JSON.stringify(modelType)} is not supported; llama, qwen2 and qwen3 are`,
    );
  const parsed = ConfigFile.safeParse(value);
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  return toConfig(path, parsed.data, await readGenerationEnds(dir));
}

function toConfig(path: string, file: z.infer<typeof ConfigFile>, generationEnds: number[]): LlamaConfig {
  const heads = file.num_attention_heads;
  const kvHeads = file.num_key_value_heads ?? heads;
  const headDim = file.head_dim ?? file.hidden_size / heads;
  if (heads % kvHeads !== 0) throw new ModelFormatError(path, `${heads} heads cannot share ${kvHeads} key/value heads`);
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw new ModelFormatError(path, `a head of ${headDim} numbers cannot be rotated in halves`);
  const isQwen2 = file.model_type === 'qwen2';
  const attentionBias = isQwen2 || file.attention_bias;
  return {
    architecture: file.model_type,
    vocabSize: file.vocab_size,
    hiddenSize: file.hidden_size,
    layers: file.num_hidden_layers,
    heads,
    kvHeads,
    headDim,
    intermediateSize: file.intermediate_size,
    rmsNormEps: file.rms_norm_eps,
    ...readRope(path, file),
    tieWordEmbeddings: file.tie_word_embeddings,
    maxPositions: file.max_position_embeddings,
    bosTokenId: file.bos_token_id ?? null,
    eosTokenIds: [...new Set([...file.eos_token_id, ...generationEnds])],
    padTokenId: file.pad_token_id ?? null,
    attentionBias,
    attentionOutputBias: attentionBias && !isQwen2,
    mlpBias: file.mlp_bias,
    queryKeyNorm: file.model_type === 'qwen3',
  };
}

function readRope(path: string, file: z.infer<typeof ConfigFile>): Pick<LlamaConfig, 'ropeTheta' | 'ropeScaling'> {
  const ropeTheta = file.rope_theta ?? file.rope_parameters?.rope_theta;
  if (ropeTheta === undefined) throw new ModelFormatError(path, 'rope_theta is missing');
  const scaling = file.rope_scaling ?? file.rope_parameters;
  const type = scaling?.rope_type ?? scaling?.type ?? 'default';
  if (type === 'default') return { ropeTheta };
  if (type !== 'llama3') throw new ModelFormatError(path, `RoPE scaling ${JSON.stringify(type)} is not supported`);
  const parsed = Llama3Rope.safeParse(scaling);
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      `rope_scaling: ${parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
    );
  const ropeScaling = {
    factor: parsed.data.factor,
    lowFrequencyFactor: parsed.data.low_freq_factor,
    highFrequencyFactor: parsed.data.high_freq_factor,
    originalMaxPositions: parsed.data.original_max_position_embeddings,
  };
  return { ropeTheta, ropeScaling };
}

async function readGenerationEnds(dir: string): Promise<number[]> {
  const path = join(dir, 'generation_config.json');
  if (!existsSync(path)) return [];
  const parsed = z.looseObject({ eos_token_id: tokenIds }).safeParse(await readJson(path));
  if (!parsed.success) throw new ModelFormatError(path, 'eos_token_id is not a token id or a list of them');
  return parsed.data.eos_token_id;
}

/** Reads a JSON file of a model directory; a missing or broken one is a ModelFormatError. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new ModelFormatError(path, cause instanceof Error ? cause.message : 'cannot be read', { cause });
  }
}
