import type { ParameterSlice } from './parameters';

export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Per step, times the learning rate; on matrices, not on norms. */
  readonly weightDecay: number;
  /** Gradients with a larger Euclidean norm over all parameters are scaled down to it. */
  readonly maxNorm: number;
}

/** AdamW (Loshchilov & Hutter, arXiv 1711.05101) with global-norm clipping, on flat vectors. */
export class AdamW {
  /** Running means of the gradient and of its square. */
  readonly mean: Float32Array;
  readonly square: Float32Array;
  /** Steps taken so far. */
  steps = 0;

  constructor(
    private readonly slices: readonly ParameterSlice[],
    size: number,
    private readonly options: AdamWOptions,
  ) {
    this.mean = new Float32Array(size);
    this.square = new Float32Array(size);
  }

  /**
   * Changes `parameters` by one step against `gradient`. Returns the gradient's norm before clipping.
   * @throws Error when that norm is not finite; nothing is changed then.
   */
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number {
    const { beta1, beta2, epsilon, weightDecay, maxNorm } = this.options;
    const norm = euclideanNorm(gradient);
    if (!Number.isFinite(norm)) throw new Error(`the gradient's norm is ${norm} at step ${this.steps + 1}`);
    this.steps += 1;
    const scale = Math.min(1, maxNorm / (norm + 1e-6));
    const stepSize = learningRate / (1 - beta1 ** this.steps);
    const squareCorrection = 1 / (1 - beta2 ** this.steps);
    const { mean, square } = this;
    for (const { shape, begin, end } of this.slices) {
      const keep = shape.length > 1 ? 1 - learningRate * weightDecay : 1;
      for (let i = begin; i < end; i += 1) {
        const g = (gradient[i] as number) * scale;
        const m = beta1 * (mean[i] as number) + (1 - beta1) * g;
        const v = beta2 * (square[i] as number) + (1 - beta2) * g * g;
        mean[i] = m;
        square[i] = v;
        parameters[i] = (parameters[i] as number) * keep - (stepSize * m) / (Math.sqrt(v * squareCorrection) + epsilon);
      }
    }
    return norm;
  }
}

function euclideanNorm(vector: Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}
