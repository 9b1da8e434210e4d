import { scaleTensor, sumOfSquares, updateTensor } from './adam-kernel';

/** Parameters, gradients or moments by tensor name; each array is flat, row-major float32. */
export type NamedArrays = ReadonlyMap<string, Float32Array>;

/** State of Adam: the moments of every parameter and the number of steps taken. */
export interface AdamState {
  readonly step: number;
  /** First moment m. */
  readonly first: NamedArrays;
  /** Second moment v. */
  readonly second: NamedArrays;
  /** See `housed`. */
  readonly spares?: readonly NamedArrays[];
}

export interface AdamSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** λ of decoupled weight decay (AdamW); 0 = plain Adam. */
  readonly weightDecay: number;
}

export const ADAM: AdamSettings = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 };

export function initialAdamState(parameters: NamedArrays): AdamState {
  const zeros = (): NamedArrays =>
    new Map([...parameters].map(([name, values]) => [name, new Float32Array(values.length)]));
  return { step: 0, first: zeros(), second: zeros() };
}

/**
 * One step of Adam with bias correction, in float32. The parameters are not changed. Gradients and state are used up: their arrays become
 * those of the new parameters and of the new state, because new memory for them takes longer than the arithmetic.
 *
 *   mₜ = β₁ mₜ₋₁ + (1 − β₁) g       vₜ = β₂ vₜ₋₁ + (1 − β₂) g²
 *   θₜ = θₜ₋₁ − α (m̂ₜ / (√v̂ₜ + ε) + λ θₜ₋₁)        m̂ₜ = mₜ / (1 − β₁ᵗ), v̂ₜ = vₜ / (1 − β₂ᵗ)
 *
 * Kingma & Ba 2015, algorithm 1 (arXiv:1412.6980); λ is Loshchilov & Hutter 2019 (arXiv:1711.05101).
 *
 * @param gradients of the same names and lengths as `parameters`, already clipped
 * @param learningRate α
 * @returns with whether all new parameters are finite
 * @throws RangeError when a parameter has no gradient of its length
 */
export function adamStep(
  parameters: NamedArrays,
  gradients: NamedArrays,
  state: AdamState,
  learningRate: number,
  { beta1, beta2, epsilon, weightDecay }: AdamSettings = ADAM,
): { parameters: NamedArrays; state: AdamState; isFinite: boolean } {
  const step = state.step + 1;
  const factors = {
    beta1,
    beta2,
    epsilon,
    rate: learningRate / (1 - beta1 ** step),
    squareFactor: 1 / (1 - beta2 ** step),
    decay: learningRate * weightDecay,
  };
  // All lengths first: an error leaves everything as it was.
  const tensors = [...parameters].map(([name, values]) => ({
    name,
    values,
    first: sameLength(state.first, name, values),
    second: sameLength(state.second, name, values),
    gradient: sameLength(gradients, name, values),
  }));
  let isFinite = true;
  for (const tensor of tensors) isFinite = updateTensor(tensor, factors) && isFinite;
  return {
    parameters: new Map(tensors.map(({ name, gradient }) => [name, gradient])),
    state: { ...state, step },
    isFinite,
  };
}

/** Joint L2 norm of all gradients. */
export function globalNorm(gradients: NamedArrays): number {
  let sum = 0;
  for (const gradient of gradients.values()) sum += sumOfSquares(gradient);
  return Math.sqrt(sum);
}

/** Scales the gradients, in place, so that their joint L2 norm is at most `maxNorm`; also the norm before scaling. */
export function clipByGlobalNorm(gradients: NamedArrays, maxNorm: number): { gradients: NamedArrays; norm: number } {
  const norm = globalNorm(gradients);
  if (!(norm > maxNorm)) return { gradients, norm };
  const scale = maxNorm / norm;
  for (const gradient of gradients.values()) scaleTensor(gradient, scale);
  return { gradients, norm };
}

/** The sum of gradients that are nobody else's: added up in the arrays of the first ones, which are taken over. */
export function addUp(
  total: Map<string, Float32Array> | null,
  gradients: Map<string, Float32Array>,
): Map<string, Float32Array> {
  if (total === null) return gradients;
  accumulate(total, gradients);
  return total;
}

/** Adds `gradients` to `total` in place; an empty total becomes a copy of them. */
export function accumulate(total: Map<string, Float32Array>, gradients: NamedArrays): void {
  for (const [name, gradient] of gradients) {
    const sum = total.get(name);
    if (!sum) total.set(name, gradient.slice());
    else for (let i = 0; i < sum.length; i++) sum[i]! += gradient[i]!;
  }
}

function sameLength(arrays: NamedArrays, name: string, like: Float32Array): Float32Array {
  const array = arrays.get(name);
  if (array?.length !== like.length) {
    throw new RangeError(`${name} has ${like.length} values, but ${array?.length ?? 'no'} gradients or moments`);
  }
  return array;
}
