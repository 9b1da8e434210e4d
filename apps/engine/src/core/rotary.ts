import { rotationFrequency, type LlamaConfig } from '@hindcast/language-model';

/**
 * Cosines and sines of every position, `[positions, headDim / 2]`; the frequencies are the model's, stretched ones too.
 *
 * Both carry the factor headDim^(−1/4): the product of a rotated query and a rotated key then has the 1/√headDim of scaled attention.
 * A factor on the product itself would keep onnxruntime from its kernel for a single row.
 */
export class RotaryTable {
  private readonly cos: Float32Array;
  private readonly sin: Float32Array;
  private readonly half: number;

  constructor(config: LlamaConfig) {
    const positions = config.maxPositions;
    const half = (this.half = config.headDim / 2);
    this.cos = new Float32Array(positions * half);
    this.sin = new Float32Array(positions * half);
    const scale = config.headDim ** -0.25;
    for (let i = 0; i < half; i++) {
      const frequency = rotationFrequency(config, i);
      for (let position = 0; position < positions; position++) {
        this.cos[position * half + i] = scale * Math.cos(position * frequency);
        this.sin[position * half + i] = scale * Math.sin(position * frequency);
      }
    }
  }

  /** The table's rows from each start on, one after the other: row-major `[Σ counts, headDim / 2]`. */
  rows(spans: readonly { readonly start: number; readonly count: number }[]): {
    cos: Float32Array;
    sin: Float32Array;
  } {
    const size = spans.reduce((sum, { count }) => sum + count, 0) * this.half;
    const cos = new Float32Array(size);
    const sin = new Float32Array(size);
    let at = 0;
    for (const { start, count } of spans) {
      const [from, to] = [start * this.half, (start + count) * this.half];
      cos.set(this.cos.subarray(from, to), at);
      sin.set(this.sin.subarray(from, to), at);
      at += to - from;
    }
    return { cos, sin };
  }
}
