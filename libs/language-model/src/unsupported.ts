/** Numbers of config.json that a rule about another field needs. */
export interface Dimensions {
  readonly layers: number;
  readonly headDim: number;
}

type Fields = Readonly<Record<string, unknown>>;

interface Rule {
  /** Fields that mean the same to different publishers. */
  readonly fields: readonly string[];
  /** Whether the forward pass computes what a model with this value does. Absent and null always are. */
  readonly isComputed: (value: unknown, file: Fields, dimensions: Dimensions) => boolean;
  readonly problem: string;
}

const is =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
const never = (): boolean => false;

/** One architecture per `model_type`. A config.json without `architectures` is taken at its `model_type`. */
export const architectures = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
} as const;

/**
 * What transformers, vLLM or publishers of the LLaMA and Qwen families write into config.json and the forward pass of this library
 * does not compute. A model with such a field would load and give other numbers than the engine that serves it.
 */
const rules: readonly Rule[] = [
  {
    fields: ['quantization_config', 'compression_config', 'quantization'],
    isComputed: never,
    problem: 'quantised weights are not supported; use the bf16, f16 or f32 checkpoint',
  },
  {
    fields: ['use_sliding_window'],
    isComputed: (value, file, { layers }) => value === false || hasNoWindowedLayer(file, layers),
    problem: 'sliding-window attention is not supported',
  },
  {
    // Without use_sliding_window transformers ignores it for LLaMA, older vLLM does not.
    fields: ['sliding_window'],
    isComputed: (_, file, { layers }) => file['model_type'] !== 'llama' || hasNoWindowedLayer(file, layers),
    problem: 'sliding-window attention is not supported',
  },
  {
    fields: ['layer_types'],
    isComputed: (value, _, { layers }) =>
      Array.isArray(value) && value.length === layers && value.every(is('full_attention')),
    problem: 'every layer must be full_attention',
  },
  {
    fields: ['attention_chunk_size'],
    isComputed: never,
    problem: 'chunked attention is not supported',
  },
  {
    fields: ['partial_rotary_factor', 'rotary_pct'],
    isComputed: is(1),
    problem: 'heads that are rotated in part are not supported',
  },
  {
    fields: ['use_mrope', 'rope_interleaved', 'rope_interleave', 'rope_traditional'],
    isComputed: is(false),
    problem: 'this layout of the rotation is not supported',
  },
  {
    fields: ['no_rope_layers'],
    isComputed: (value) => Array.isArray(value) && value.every(is(1)),
    problem: 'layers without rotation are not supported',
  },
  {
    fields: ['no_rope_layer_interval'],
    isComputed: is(0),
    problem: 'layers without rotation are not supported',
  },
  {
    fields: ['num_local_experts', 'num_experts', 'n_routed_experts', 'moe_num_experts'],
    isComputed: is(0, 1),
    problem: 'mixtures of experts are not supported',
  },
  {
    fields: ['attention_multiplier'],
    isComputed: (value, _, { headDim }) => value === headDim ** -0.5,
    problem: 'only attention scaled by 1/√head_dim is supported',
  },
  {
    fields: ['query_pre_attn_scalar'],
    isComputed: (value, _, { headDim }) => value === headDim,
    problem: 'only attention scaled by 1/√head_dim is supported',
  },
  {
    fields: [
      'embedding_multiplier',
      'residual_multiplier',
      'logits_scaling',
      'logit_scale',
      'scale_emb',
      'scale_depth',
      'mup_width_multiplier',
    ],
    isComputed: is(1),
    problem: 'scaled embeddings, residuals or logits are not supported',
  },
  {
    fields: ['attn_logit_softcapping', 'final_logit_softcapping', 'logit_softcapping'],
    isComputed: never,
    problem: 'soft-capped scores are not supported',
  },
  {
    fields: ['use_qk_norm', 'qk_layernorm'],
    isComputed: (value, file) => value === (file['model_type'] === 'qwen3'),
    problem: 'query and key norms are those of Qwen3, and only there',
  },
  {
    fields: ['use_parallel_residual', 'parallel_attn', 'clip_qkv'],
    isComputed: is(false, 0),
    problem: 'this form of the block is not supported',
  },
  {
    fields: ['use_bidirectional_attention', 'is_encoder_decoder', 'add_cross_attention'],
    isComputed: is(false),
    problem: 'only causal decoders are supported',
  },
  {
    fields: ['is_causal'],
    isComputed: is(true),
    problem: 'only causal decoders are supported',
  },
  {
    fields: ['text_config', 'vision_config', 'audio_config'],
    isComputed: never,
    problem: 'only text models are supported',
  },
];

/** What of a parsed config.json the forward pass does not compute: `field: reason` for each, in the order of the rules. */
export function unsupportedFields(file: Fields, dimensions: Dimensions): string[] {
  return rules.flatMap(({ fields, isComputed, problem }) =>
    fields
      .filter((field) => file[field] !== undefined && file[field] !== null)
      .filter((field) => !isComputed(file[field], file, dimensions))
      .map((field) => `${field} ${JSON.stringify(file[field])}: ${problem}`),
  );
}

/**
 * Layers from `max_window_layers` on have the window, as transformers reads Qwen2 and Qwen3. Where the field is missing, all do.
 */
function hasNoWindowedLayer(file: Fields, layers: number): boolean {
  const first = file['max_window_layers'];
  return file['sliding_window'] == null || (typeof first === 'number' && first >= layers);
}
