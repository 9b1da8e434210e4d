import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ModelFormatError } from './errors';
import { readRope, RopeFields, type Llama3RopeScaling } from './rope-config';
import { architectures, unsupportedFields } from './unsupported';

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

const count = z.number().int().positive();
const tokenId = z.number().int().nonnegative();
const tokenIds = z
  .union([tokenId, z.array(tokenId)])
  .nullish()
  .transform((value) => (typeof value === 'number' ? [value] : (value ?? [])));
const ConfigFile = z.looseObject({
  model_type: z.enum(['llama', 'qwen2', 'qwen3']),
  architectures: z.array(z.string()).nullish(),
  hidden_act: z.literal('silu').default('silu'),
  vocab_size: count,
  hidden_size: count,
  // Thirty times the deepest model there is: more are a mistake that takes minutes and all memory to find out.
  num_hidden_layers: count.max(4096),
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  intermediate_size: count,
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: RopeFields,
  rope_parameters: RopeFields,
  tie_word_embeddings: z.boolean().default(false),
  max_position_embeddings: count,
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  bos_token_id: tokenId.nullish(),
  eos_token_id: tokenIds,
  // The first LLaMA checkpoints write -1 for none.
  pad_token_id: z.union([z.literal(-1).transform(() => null), tokenId]).nullish(),
});
type ConfigFile = z.infer<typeof ConfigFile>;

// Qwen3's class has a head size of its own; the others divide.
const QWEN3_HEAD_DIM = 128;

/**
 * Reads `config.json` (and `generation_config.json` for more end tokens). Refuses, by name, what the forward pass does not
 * compute: another architecture, RoPE scaling other than Llama 3's, and every field of `unsupportedFields`.
 */
export async function readModelConfig(dir: string): Promise<LlamaConfig> {
  const path = join(dir, 'config.json');
  const value = await readJson(path);
  const modelType = (value as { model_type?: unknown } | null)?.model_type;
  if (!ConfigFile.shape.model_type.safeParse(modelType).success)
    throw new ModelFormatError(
      path,
      `model_type ${JSON.stringify(modelType)} is not supported; llama, qwen2 and qwen3 are`,
    );
  const parsed = ConfigFile.safeParse(value);
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  assertArchitecture(path, parsed.data);
  return toConfig(path, parsed.data, await readGenerationEnds(dir));
}

function toConfig(path: string, file: ConfigFile, generationEnds: number[]): LlamaConfig {
  const heads = file.num_attention_heads;
  const kvHeads = file.num_key_value_heads ?? heads;
  const headDim = file.head_dim ?? (file.model_type === 'qwen3' ? QWEN3_HEAD_DIM : file.hidden_size / heads);
  if (heads % kvHeads !== 0) throw new ModelFormatError(path, `${heads} heads cannot share ${kvHeads} key/value heads`);
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw new ModelFormatError(path, `a head of ${headDim} numbers cannot be rotated in halves`);
  const unsupported = unsupportedFields(file, { layers: file.num_hidden_layers, headDim });
  if (unsupported.length > 0) throw new ModelFormatError(path, unsupported.join('; '));
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
    ...biases(file),
    queryKeyNorm: file.model_type === 'qwen3',
  };
}

/** As the classes of transformers: Qwen2 always has the three biases and no other; only LLaMA may have biases in the MLP. */
function biases(file: ConfigFile): Pick<LlamaConfig, 'attentionBias' | 'attentionOutputBias' | 'mlpBias'> {
  if (file.model_type === 'qwen2') return { attentionBias: true, attentionOutputBias: false, mlpBias: false };
  const attentionBias = file.attention_bias ?? false;
  return {
    attentionBias,
    attentionOutputBias: attentionBias,
    mlpBias: file.model_type === 'llama' && (file.mlp_bias ?? false),
  };
}

function assertArchitecture(path: string, { model_type: modelType, architectures: names }: ConfigFile): void {
  const expected = architectures[modelType];
  if (names?.length && !names.includes(expected))
    throw new ModelFormatError(path, `architecture ${names.join(', ')} is not supported; ${expected} is`);
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
