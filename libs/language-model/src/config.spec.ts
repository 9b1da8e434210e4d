import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { readModelConfig, type LlamaConfig } from './config';
import { ModelFormatError } from './errors';
import { SEED_DIR } from './testing/models';
import { folder, read, seedWith } from './testing/config-file';

it('reads the seed model', async () => {
  expect(await readModelConfig(SEED_DIR)).toEqual({
    architecture: 'llama',
    vocabSize: 1024,
    hiddenSize: 128,
    layers: 4,
    heads: 4,
    kvHeads: 2,
    headDim: 32,
    intermediateSize: 256,
    rmsNormEps: 1e-5,
    ropeTheta: 10000,
    tieWordEmbeddings: true,
    maxPositions: 512,
    bosTokenId: 5,
    eosTokenIds: [4],
    padTokenId: 0,
    attentionBias: false,
    attentionOutputBias: false,
    mlpBias: false,
    queryKeyNorm: false,
  });
});

// The fields of published checkpoints, with the values that their files have.
describe('what served checkpoints write is accepted', () => {
  const llama3 = {
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
    rope_type: 'llama3',
  };
  const llama31 = {
    architectures: ['LlamaForCausalLM'],
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: 128000,
    eos_token_id: [128001, 128008, 128009],
    hidden_act: 'silu',
    hidden_size: 4096,
    initializer_range: 0.02,
    intermediate_size: 14336,
    max_position_embeddings: 131072,
    mlp_bias: false,
    model_type: 'llama',
    num_attention_heads: 32,
    num_hidden_layers: 32,
    num_key_value_heads: 8,
    pretraining_tp: 1,
    rms_norm_eps: 1e-5,
    rope_scaling: llama3,
    rope_theta: 500000,
    tie_word_embeddings: false,
    torch_dtype: 'bfloat16',
    transformers_version: '4.43.0.dev0',
    use_cache: true,
    vocab_size: 128256,
  };
  const qwen25 = {
    architectures: ['Qwen2ForCausalLM'],
    attention_dropout: 0,
    bos_token_id: 151643,
    eos_token_id: 151645,
    hidden_act: 'silu',
    hidden_size: 896,
    initializer_range: 0.02,
    intermediate_size: 4864,
    max_position_embeddings: 32768,
    max_window_layers: 21,
    model_type: 'qwen2',
    num_attention_heads: 14,
    num_hidden_layers: 24,
    num_key_value_heads: 2,
    rms_norm_eps: 1e-6,
    rope_theta: 1000000,
    sliding_window: 131072,
    tie_word_embeddings: true,
    torch_dtype: 'bfloat16',
    transformers_version: '4.43.1',
    use_cache: true,
    use_mrope: false,
    use_sliding_window: false,
    vocab_size: 151936,
  };
  const qwen3 = {
    architectures: ['Qwen3ForCausalLM'],
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: 151643,
    eos_token_id: 151645,
    head_dim: 128,
    hidden_act: 'silu',
    hidden_size: 1024,
    initializer_range: 0.02,
    intermediate_size: 3072,
    max_position_embeddings: 40960,
    max_window_layers: 28,
    model_type: 'qwen3',
    num_attention_heads: 16,
    num_hidden_layers: 28,
    num_key_value_heads: 8,
    rms_norm_eps: 1e-6,
    rope_scaling: null,
    rope_theta: 1000000,
    sliding_window: null,
    tie_word_embeddings: true,
    torch_dtype: 'bfloat16',
    transformers_version: '4.51.0',
    use_cache: true,
    use_sliding_window: false,
    vocab_size: 151936,
  };
  const { rope_theta: _, rope_scaling: __, torch_dtype: ___, ...qwen3Rest } = qwen3;
  const { rope_theta: ____, rope_scaling: _____, ...llamaRest } = llama31;

  it.each([
    {
      name: 'Llama 3.1: scaled rotation, several ends',
      file: llama31,
      expected: {
        ropeTheta: 500000,
        ropeScaling: { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 },
        kvHeads: 8,
        headDim: 128,
        eosTokenIds: [128001, 128008, 128009],
      },
    },
    {
      name: 'Llama 2: no theta anywhere, so 10000; as many key heads as heads; pad −1 is none',
      file: { ...llamaRest, num_key_value_heads: undefined, rope_scaling: null, pad_token_id: -1 },
      expected: { ropeTheta: 10000, kvHeads: 32, padTokenId: null },
    },
    {
      name: 'Qwen2.5: a window that is switched off',
      file: qwen25,
      expected: { architecture: 'qwen2', attentionBias: true, attentionOutputBias: false, headDim: 64 },
    },
    {
      name: 'Qwen2 with the window on from a layer on that there is not',
      file: { ...qwen25, use_sliding_window: true, max_window_layers: 24 },
      expected: { layers: 24 },
    },
    {
      name: 'Qwen3: a head wider than hidden_size/heads, norms on queries and keys',
      file: qwen3,
      expected: { architecture: 'qwen3', headDim: 128, queryKeyNorm: true, attentionBias: false },
    },
    {
      name: 'Qwen3 without head_dim: 128, its class’s own default',
      file: { ...qwen3, head_dim: undefined },
      expected: { headDim: 128 },
    },
    {
      name: 'Qwen3 as transformers 5 writes it: rope_parameters, layer_types, dtype',
      file: {
        ...qwen3Rest,
        dtype: 'bfloat16',
        layer_types: Array.from({ length: 28 }, () => 'full_attention'),
        rope_parameters: { rope_theta: 1000000, rope_type: 'default' },
        transformers_version: '5.0.0',
      },
      expected: { ropeTheta: 1000000 },
    },
    {
      name: 'Llama 3.1 as transformers 5 writes it: theta inside the scaling',
      file: { ...llamaRest, rope_parameters: { ...llama3, rope_theta: 500000 } },
      expected: { ropeTheta: 500000, ropeScaling: expect.objectContaining({ factor: 8 }) },
    },
    {
      name: 'LLaMA with biases in attention and MLP',
      file: { ...llama31, attention_bias: true, mlp_bias: true },
      expected: { attentionBias: true, attentionOutputBias: true, mlpBias: true },
    },
    {
      name: 'the mlp_bias that transformers ignores for Qwen',
      file: { ...qwen25, mlp_bias: true, attention_bias: false },
      expected: { attentionBias: true, mlpBias: false },
    },
    {
      name: 'multipliers that multiply by nothing',
      file: { ...llama31, attention_multiplier: 128 ** -0.5, embedding_multiplier: 1, logits_scaling: 1 },
      expected: { headDim: 128 },
    },
    {
      name: 'a file without architectures, taken at its model_type',
      file: { ...qwen25, architectures: undefined },
      expected: { architecture: 'qwen2' },
    },
  ])('$name', async ({ file, expected }) => {
    expect(await read(file)).toMatchObject(expected);
  });

  it('and the ends of both files', async () => {
    await writeFile(join(folder(), 'generation_config.json'), JSON.stringify({ eos_token_id: [7, 4] }));
    expect((await seedWith({ eos_token_id: 4 })).eosTokenIds).toEqual([4, 7]);
    await writeFile(join(folder(), 'generation_config.json'), JSON.stringify({ eos_token_id: '4' }));
    await expect(seedWith({})).rejects.toThrow('eos_token_id is not a token id');
    await writeFile(join(folder(), 'generation_config.json'), '{}');
  });
});

it('meets any config.json with a configuration or a ModelFormatError, nothing else', async () => {
  const seed = JSON.parse(await readFile(join(SEED_DIR, 'config.json'), 'utf8')) as Record<string, unknown>;
  const fields = [...Object.keys(seed), 'rope_scaling', 'rope_parameters', 'layer_types', 'sliding_window', 'head_dim'];
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(0, -1, 2 ** 53, 1e-300, '4', [], {}, null, true, 'llama3', { rope_type: 'llama3', factor: 0 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...fields), odd, { minKeys: 1, maxKeys: 3 }), async (change) => {
      const config = await read({ ...seed, ...change }).catch((error: unknown) => error);
      if (config instanceof Error) return expect(config).toBeInstanceOf(ModelFormatError);
      const { headDim, heads, kvHeads, ropeTheta } = config as LlamaConfig;
      expect([headDim % 2, heads % kvHeads, Number.isFinite(ropeTheta)]).toEqual([0, 0, true]);
    }),
    { numRuns: 500 },
  );
});
