import { configOf } from './sizes';
import { ggufFile, interleaved } from './gguf';
import { randomWeights } from './random-weights';

it('puts the numbers of a head that turn together side by side', () => {
  // Two heads of four rows; a row is one number here.
  expect([...interleaved(Float32Array.of(0, 1, 2, 3, 10, 11, 12, 13), 2, 4)]).toEqual([0, 2, 1, 3, 10, 12, 11, 13]);
});

it('is read back: counts, the shapes of every tensor from its innermost side on, and data at multiples of 32', () => {
  const config = { ...configOf('1M'), layers: 1, vocabSize: 300 };
  const weights = randomWeights(config, 1);
  const file = Buffer.from(ggufFile(config, weights));
  const reader = new Reader(file);
  expect(reader.take(4).toString()).toBe('GGUF');
  expect([reader.u32(), reader.u64(), reader.u64()]).toEqual([3, 11, 22]);
  const pairs = new Map(Array.from({ length: 22 }, () => [reader.string(), reader.value()]));
  expect(pairs.get('llama.attention.head_count_kv')).toBe(2);
  expect(pairs.get('tokenizer.ggml.tokens')).toHaveLength(300);
  const tensors = Array.from({ length: 11 }, () => ({
    name: reader.string(),
    shape: Array.from({ length: reader.u32() }, () => reader.u64()),
    type: reader.u32(),
    offset: reader.u64(),
  }));
  const start = Math.ceil(reader.at / 32) * 32;
  for (const { type, offset } of tensors) expect([type, offset % 32]).toEqual([0, 0]);
  const down = tensors.find(({ name }) => name === 'blk.0.ffn_down.weight')!;
  expect(down.shape).toEqual([352, 128]);
  const { data } = weights.get('model.layers.0.mlp.down_proj.weight')!;
  expect(file.readFloatLE(start + down.offset + 4 * 5)).toBe(data[5]);
  expect(file).toHaveLength(start + tensors.at(-1)!.offset + 4 * 128 * 352);
});

it('refuses what llama.cpp would read as another model', () => {
  const config = { ...configOf('1M'), architecture: 'qwen3' as const };
  expect(() => ggufFile(config, new Map())).toThrow('only a LLaMA');
});

class Reader {
  at = 0;
  constructor(private readonly file: Buffer) {}
  take(count: number): Buffer {
    return this.file.subarray(this.at, (this.at += count));
  }
  u32(): number {
    return this.take(4).readUInt32LE();
  }
  u64(): number {
    return Number(this.take(8).readBigUInt64LE());
  }
  string(): string {
    return this.take(this.u64()).toString();
  }
  value(type = this.u32()): unknown {
    if (type === 8) return this.string();
    if (type === 7) return this.take(1)[0] === 1;
    if (type === 6) return this.take(4).readFloatLE();
    if (type !== 9) return this.u32();
    const of = this.u32();
    return Array.from({ length: this.u64() }, () => this.value(of));
  }
}
