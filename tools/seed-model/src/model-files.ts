import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { learnBytePairs, type BytePairs } from './byte-pairs';

/** Sizes of the model. The defaults make 722,048 parameters: 2.9 MB as float32. */
export interface ModelSize {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediateSize: number;
}

export const seedModelSize: ModelSize = {
  vocabSize: 1024,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  intermediateSize: 256,
};

// In id order. A role's mark begins its message, <|end|> ends it; an answer is over when <|end|> is sampled.
const specialTokens = ['<|pad|>', '<|system|>', '<|user|>', '<|assistant|>', '<|end|>', '<|bos|>'] as const;
export const markIds = { pad: 0, system: 1, user: 2, assistant: 3, end: 4, bos: 5 } as const;

/** Longer conversations were never trained on; rotations up to here are safe. */
export const maxPositions = 512;

const chatTemplate =
  "<|bos|>{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}" +
  '{% if add_generation_prompt %}<|assistant|>{% endif %}';

/** Learns the tokenizer from conversations' texts. */
export function learnTokenizer(texts: Iterable<string>, vocabSize: number): BytePairs {
  return learnBytePairs(texts, vocabSize, specialTokens);
}

/** Writes tokenizer.json, tokenizer_config.json and config.json as transformers and vLLM read them. */
export async function writeModelFiles(dir: string, size: ModelSize, bytePairs: BytePairs): Promise<void> {
  await writeJson(join(dir, 'tokenizer.json'), tokenizerFile(bytePairs));
  await writeJson(join(dir, 'tokenizer_config.json'), {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<|bos|>',
    eos_token: '<|end|>',
    pad_token: '<|pad|>',
    // The template writes <|bos|> itself.
    add_bos_token: false,
    model_max_length: maxPositions,
    clean_up_tokenization_spaces: false,
    chat_template: chatTemplate,
  });
  await writeJson(join(dir, 'config.json'), {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: size.vocabSize,
    hidden_size: size.hiddenSize,
    num_hidden_layers: size.layers,
    num_attention_heads: size.heads,
    num_key_value_heads: size.kvHeads,
    head_dim: size.hiddenSize / size.heads,
    intermediate_size: size.intermediateSize,
    rms_norm_eps: 1e-5,
    rope_theta: 10000,
    hidden_act: 'silu',
    max_position_embeddings: maxPositions,
    tie_word_embeddings: true,
    attention_bias: false,
    mlp_bias: false,
    bos_token_id: markIds.bos,
    eos_token_id: markIds.end,
    pad_token_id: markIds.pad,
    torch_dtype: 'float32',
  });
}

function tokenizerFile({ tokens, merges }: BytePairs): object {
  const byteLevel = { type: 'ByteLevel', trim_offsets: true, use_regex: true };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialTokens.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: { ...byteLevel, add_prefix_space: false },
    post_processor: null,
    decoder: { ...byteLevel, add_prefix_space: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map((merge) => merge.join(' ')),
    },
  };
}

async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 1)}\n`);
}
