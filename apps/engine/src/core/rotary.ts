/** Cosines and sines of every position, `[positions, headDim / 2]`: angle = position · theta^(−2i / headDim). */
export class RotaryTable {
  private readonly cos: Float32Array;
  private readonly sin: Float32Array;
  private readonly half: number;

  constructor(positions: number, headDim: number, theta: number) {
    this.half = headDim / 2;
    this.cos = new Float32Array(positions * this.half);
    this.sin = new Float32Array(positions * this.half);
    for (let position = 0; position < positions; position++)
      for (let i = 0; i < this.half; i++) {
        const angle = position * theta ** ((-2 * i) / headDim);
        this.cos[position * this.half + i] = Math.cos(angle);
        this.sin[position * this.half + i] = Math.sin(angle);
      }
  }

  /** The table's rows for `count` positions from each start, row-major `[starts, count, headDim / 2]`. */
  rows(starts: readonly number[], count: number): { cos: Float32Array; sin: Float32Array } {
    const size = count * this.half;
    const cos = new Float32Array(starts.length * size);
    const sin = new Float32Array(starts.length * size);
    starts.forEach((start, row) => {
      const from = start * this.half;
      cos.set(this.cos.subarray(from, from + size), row * size);
      sin.set(this.sin.subarray(from, from + size), row * size);
    });
    return { cos, sin };
  }
}
