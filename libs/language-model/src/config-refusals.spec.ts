import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig } from './config';
import { ModelFormatError } from './errors';
import { folder, seedWith } from './testing/config-file';

const QWEN2 = { model_type: 'qwen2', architectures: ['Qwen2ForCausalLM'] };
const QWEN3 = { model_type: 'qwen3', architectures: ['Qwen3ForCausalLM'] };

describe('is refused by name:', () => {
  const window = { use_sliding_window: true, sliding_window: 4096 };
  it.each([
    { why: 'another family', change: { model_type: 'gemma3' }, error: 'model_type "gemma3" is not supported' },
    { why: 'a mixture of experts', change: { model_type: 'qwen3_moe' }, error: 'model_type "qwen3_moe"' },
    { why: 'no family', change: { model_type: undefined }, error: 'model_type undefined is not supported' },
    {
      why: 'a classifier: its head gives no next token',
      change: { architectures: ['LlamaForSequenceClassification'] },
      error: 'architecture LlamaForSequenceClassification is not supported; LlamaForCausalLM is',
    },
    {
      why: 'a bare model: its weights have other names',
      change: { ...QWEN3, architectures: ['Qwen3Model'] },
      error: 'architecture Qwen3Model',
    },
    {
      why: 'the class of another family',
      change: { ...QWEN2, architectures: ['LlamaForCausalLM'] },
      error: 'Qwen2ForCausalLM is',
    },
    { why: 'another activation', change: { hidden_act: 'gelu' }, error: 'hidden_act' },
    { why: 'a size that is a text', change: { vocab_size: '1024' }, error: 'vocab_size' },
    { why: 'a size that is missing', change: { intermediate_size: undefined }, error: 'intermediate_size' },
    {
      why: 'a billion layers, each to be given a name',
      change: { num_hidden_layers: 1e9 },
      error: 'num_hidden_layers',
    },
    { why: 'heads that do not divide', change: { num_key_value_heads: 3 }, error: '4 heads cannot share 3' },
    { why: 'a head that has no halves', change: { head_dim: 31 }, error: 'a head of 31 numbers' },
    { why: 'a hidden size that heads do not divide', change: { head_dim: null, hidden_size: 130 }, error: '32.5' },

    { why: 'GPTQ, AWQ, fp8', change: { quantization_config: { bits: 4 } }, error: 'quantised weights' },
    { why: 'MLX’s quantised weights', change: { quantization: { group_size: 64 } }, error: 'quantised weights' },

    { why: 'a window on every layer', change: { ...QWEN2, ...window }, error: 'use_sliding_window true: sliding' },
    {
      why: 'a window on the upper layers',
      change: { ...QWEN2, ...window, max_window_layers: 2 },
      error: 'use_sliding_window',
    },
    {
      why: 'a window on LLaMA, which only some engines apply',
      change: { sliding_window: 4096 },
      error: 'sliding_window 4096',
    },
    {
      why: 'a window on one layer',
      change: {
        ...QWEN3,
        layer_types: ['full_attention', 'full_attention', 'sliding_attention', 'full_attention'],
      },
      error: 'every layer must be full_attention',
    },
    {
      why: 'layer types for another number of layers',
      change: { ...QWEN3, layer_types: ['full_attention'] },
      error: 'every layer must be full_attention',
    },
    { why: 'attention in chunks', change: { attention_chunk_size: 8192 }, error: 'attention_chunk_size' },

    { why: 'yarn', change: { rope_scaling: { rope_type: 'yarn', factor: 4 } }, error: 'RoPE scaling "yarn"' },
    { why: 'linear scaling', change: { rope_scaling: { type: 'linear', factor: 4 } }, error: 'RoPE scaling "linear"' },
    { why: 'dynamic scaling', change: { rope_scaling: { type: 'dynamic', factor: 2 } }, error: 'scaling "dynamic"' },
    { why: 'longrope', change: { rope_scaling: { rope_type: 'longrope' } }, error: 'RoPE scaling "longrope"' },
    {
      why: 'yarn as transformers 5 writes it',
      change: { rope_theta: undefined, rope_parameters: { rope_type: 'yarn', rope_theta: 1e6, factor: 4 } },
      error: 'RoPE scaling "yarn"',
    },
    {
      why: 'a rotation in sections (vision models)',
      change: { rope_scaling: { type: 'default', mrope_section: [16, 24, 24] } },
      error: 'rope_scaling.mrope_section',
    },
    {
      why: 'a factor without a type, which engines read differently',
      change: { rope_scaling: { factor: 4 } },
      error: 'rope_scaling.factor',
    },
    {
      why: 'a rotation for each kind of layer',
      change: { rope_parameters: { full_attention: { rope_theta: 1e6 } } },
      error: 'rope_parameters.full_attention',
    },
    {
      why: 'Llama-3 scaling with a part missing',
      change: { rope_scaling: { rope_type: 'llama3', factor: 8 } },
      error: 'rope_scaling: low_freq_factor',
    },
    {
      why: 'Llama-3 scaling that divides by zero',
      change: {
        rope_scaling: {
          rope_type: 'llama3',
          factor: 8,
          low_freq_factor: 4,
          high_freq_factor: 4,
          original_max_position_embeddings: 128,
        },
      },
      error: 'high_freq_factor: is not above low_freq_factor',
    },
    {
      why: 'two base frequencies',
      change: { rope_theta: 10000, rope_parameters: { rope_theta: 500000 } },
      error: 'rope_theta is 10000 in one place and 500000 in another',
    },
    { why: 'a head rotated in part', change: { partial_rotary_factor: 0.5 }, error: 'partial_rotary_factor 0.5' },
    {
      why: 'the same inside rope_parameters',
      change: { rope_parameters: { rope_theta: 10000, partial_rotary_factor: 0.25 } },
      error: 'rope_parameters.partial_rotary_factor',
    },
    { why: 'neighbours turned together', change: { rope_interleaved: true }, error: 'rope_interleaved' },
    { why: 'layers without rotation', change: { no_rope_layers: [1, 1, 1, 0] }, error: 'no_rope_layers' },

    { why: 'experts', change: { num_local_experts: 8 }, error: 'num_local_experts 8: mixtures of experts' },
    { why: 'Granite’s attention scale', change: { attention_multiplier: 0.5 }, error: 'attention_multiplier 0.5' },
    { why: 'Granite’s embedding scale', change: { embedding_multiplier: 12 }, error: 'embedding_multiplier 12' },
    { why: 'scaled logits', change: { logits_scaling: 8 }, error: 'logits_scaling 8' },
    { why: 'soft-capped logits', change: { final_logit_softcapping: 30 }, error: 'final_logit_softcapping' },
    { why: 'head norms outside Qwen3', change: { use_qk_norm: true }, error: 'use_qk_norm true' },
    { why: 'attention that looks ahead', change: { is_causal: false }, error: 'only causal decoders' },
    { why: 'a vision model’s text part', change: { vision_config: {} }, error: 'only text models' },
  ])('$why', async ({ change, error }) => {
    await expect(seedWith(change)).rejects.toThrow(ModelFormatError);
    await expect(seedWith(change)).rejects.toThrow(error);
  });

  // Other names of the same, and their like.
  it.each([
    ['compression_config', {}],
    ['rotary_pct', 0.25],
    ['use_mrope', true],
    ['rope_interleave', true],
    ['rope_traditional', true],
    ['no_rope_layer_interval', 4],
    ['num_experts', 64],
    ['n_routed_experts', 8],
    ['moe_num_experts', 2],
    ['query_pre_attn_scalar', 256],
    ['residual_multiplier', 0.2],
    ['logit_scale', 0.0625],
    ['scale_emb', 12],
    ['scale_depth', 1.4],
    ['mup_width_multiplier', 2],
    ['attn_logit_softcapping', 50],
    ['logit_softcapping', 30],
    ['qk_layernorm', true],
    ['use_parallel_residual', true],
    ['parallel_attn', true],
    ['clip_qkv', 8],
    ['use_bidirectional_attention', true],
    ['is_encoder_decoder', true],
    ['add_cross_attention', true],
    ['text_config', {}],
    ['audio_config', {}],
  ])('%s: %j', async (field, value) => {
    await expect(seedWith({ [field]: value })).rejects.toThrow(`config.json: ${field} `);
    await expect(seedWith({ [field]: null })).resolves.toMatchObject({ layers: 4 });
  });

  it('everything at once, so that a user reads all of it the first time', async () => {
    await expect(seedWith({ logits_scaling: 8, num_experts: 64 })).rejects.toThrow(
      'num_experts 64: mixtures of experts are not supported; logits_scaling 8: scaled embeddings',
    );
  });

  it('a file that is missing, no JSON, or no object', async () => {
    await expect(readModelConfig(join(folder(), 'nowhere'))).rejects.toThrow(ModelFormatError);
    for (const text of ['{', '[]', 'null', '3']) {
      await writeFile(join(folder(), 'config.json'), text);
      await expect(readModelConfig(folder())).rejects.toThrow(ModelFormatError);
    }
  });
});
