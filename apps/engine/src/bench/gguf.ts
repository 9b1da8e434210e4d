import type { HostTensor, LlamaConfig } from '@hindcast/language-model';

// GGUF version 3, the file format of llama.cpp (ggml/docs/gguf.md): magic, version, counts, key/value pairs, tensor infos, then the
// tensors, each at a multiple of ALIGNMENT. Everything is little-endian.

const ALIGNMENT = 32;
const VERSION = 3;
const F32 = 0;
const types = { uint32: 4, float32: 6, bool: 7, string: 8, array: 9, int32: 5 } as const;

/** SentencePiece kinds of tokens. */
const kinds = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

/** A LLaMA in float32 as a GGUF file for llama.cpp, with a vocabulary that says nothing: only ids matter. RangeError for other architectures. */
export function ggufFile(config: LlamaConfig, weights: ReadonlyMap<string, HostTensor>): Uint8Array {
  if (config.architecture !== 'llama' || config.attentionBias || config.mlpBias || config.ropeScaling)
    throw new RangeError('only a LLaMA without biases and RoPE scaling is written as GGUF');
  const tensors = tensorsOf(config, weights);
  const pairs = [...hyperparameters(config), ...vocabulary(config.vocabSize)];
  let offset = 0;
  const infos = tensors.map(({ name, shape, data }) => {
    const info = [string(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(F32), u64(offset)];
    offset = aligned(offset + data.byteLength);
    return Buffer.concat(info);
  });
  const head = [Buffer.from('GGUF'), u32(VERSION), u64(tensors.length), u64(pairs.length), ...pairs, ...infos];
  const body = tensors.map(({ data }) => padded(Buffer.from(data.buffer, data.byteOffset, data.byteLength)));
  return Buffer.concat([padded(Buffer.concat(head)), ...body]);
}

interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

function tensorsOf(config: LlamaConfig, weights: ReadonlyMap<string, HostTensor>): NamedTensor[] {
  const tensors: NamedTensor[] = [];
  const add = (name: string, source: string, heads?: number): void => {
    const tensor = weights.get(source);
    if (!(tensor?.data instanceof Float32Array)) throw new RangeError(`no float32 weight ${source}`);
    const { shape, data } = tensor;
    tensors.push({ name, shape, data: heads === undefined ? data : interleaved(data, heads, config.headDim) });
  };
  add('token_embd.weight', 'model.embed_tokens.weight');
  add('output_norm.weight', 'model.norm.weight');
  if (!config.tieWordEmbeddings) add('output.weight', 'lm_head.weight');
  for (let layer = 0; layer < config.layers; layer++) {
    const [to, from] = [`blk.${layer}`, `model.layers.${layer}`];
    add(`${to}.attn_norm.weight`, `${from}.input_layernorm.weight`);
    add(`${to}.attn_q.weight`, `${from}.self_attn.q_proj.weight`, config.heads);
    add(`${to}.attn_k.weight`, `${from}.self_attn.k_proj.weight`, config.kvHeads);
    add(`${to}.attn_v.weight`, `${from}.self_attn.v_proj.weight`);
    add(`${to}.attn_output.weight`, `${from}.self_attn.o_proj.weight`);
    add(`${to}.ffn_norm.weight`, `${from}.post_attention_layernorm.weight`);
    add(`${to}.ffn_gate.weight`, `${from}.mlp.gate_proj.weight`);
    add(`${to}.ffn_up.weight`, `${from}.mlp.up_proj.weight`);
    add(`${to}.ffn_down.weight`, `${from}.mlp.down_proj.weight`);
  }
  return tensors;
}

/**
 * Rows of a query or key projection, `[heads · headDim, in]`, in the order that llama.cpp rotates: it turns neighbours together,
 * where Hugging Face turns number i of a head with number i + headDim / 2.
 */
export function interleaved(data: Float32Array, heads: number, headDim: number): Float32Array {
  const width = data.length / (heads * headDim);
  const rows = new Float32Array(data.length);
  for (let head = 0; head < heads; head++)
    for (let i = 0; i < headDim; i++) {
      const source = head * headDim + (i % 2) * (headDim / 2) + Math.floor(i / 2);
      rows.set(data.subarray(source * width, (source + 1) * width), (head * headDim + i) * width);
    }
  return rows;
}

function hyperparameters(config: LlamaConfig): Buffer[] {
  const count = (key: string, value: number): Buffer => pair(key, 'uint32', u32(value));
  const number = (key: string, value: number): Buffer => pair(key, 'float32', f32(value));
  return [
    pair('general.architecture', 'string', string('llama')),
    count('general.alignment', ALIGNMENT),
    count('general.file_type', 0),
    count('llama.context_length', config.maxPositions),
    count('llama.embedding_length', config.hiddenSize),
    count('llama.block_count', config.layers),
    count('llama.feed_forward_length', config.intermediateSize),
    count('llama.attention.head_count', config.heads),
    count('llama.attention.head_count_kv', config.kvHeads),
    count('llama.attention.key_length', config.headDim),
    count('llama.attention.value_length', config.headDim),
    number('llama.attention.layer_norm_rms_epsilon', config.rmsNormEps),
    count('llama.rope.dimension_count', config.headDim),
    number('llama.rope.freq_base', config.ropeTheta),
    count('llama.vocab_size', config.vocabSize),
  ];
}

function vocabulary(size: number): Buffer[] {
  const control = ['<unk>', '<s>', '</s>'];
  const names: Buffer[] = [];
  const kindOf = new Int32Array(size);
  const scores = new Float32Array(size);
  for (let id = 0; id < size; id++) {
    const byte = id - control.length;
    const isByte = byte >= 0 && byte < 256;
    const hex = byte.toString(16).toUpperCase().padStart(2, '0');
    names.push(string(control[id] ?? (isByte ? `<0x${hex}>` : `t${id}`)));
    kindOf[id] = id === 0 ? kinds.unknown : id < control.length ? kinds.control : isByte ? kinds.byte : kinds.normal;
    scores[id] = -id;
  }
  const array = (key: string, type: keyof typeof types, values: Buffer): Buffer =>
    pair(key, 'array', Buffer.concat([u32(types[type]), u64(size), values]));
  return [
    pair('tokenizer.ggml.model', 'string', string('llama')),
    array('tokenizer.ggml.tokens', 'string', Buffer.concat(names)),
    array('tokenizer.ggml.scores', 'float32', Buffer.from(scores.buffer)),
    array('tokenizer.ggml.token_type', 'int32', Buffer.from(kindOf.buffer)),
    pair('tokenizer.ggml.bos_token_id', 'uint32', u32(1)),
    pair('tokenizer.ggml.eos_token_id', 'uint32', u32(2)),
    pair('tokenizer.ggml.add_bos_token', 'bool', Buffer.of(0)),
  ];
}

function pair(key: string, type: keyof typeof types, value: Buffer): Buffer {
  return Buffer.concat([string(key), u32(types[type]), value]);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
}
