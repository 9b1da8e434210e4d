import { float32Tensor, type HostTensor, type LlamaConfig, sizeOf, weightShapes } from '@hindcast/language-model';
import { random, type Random } from '@hindcast/seed-world';

/** Where one weight lies in the flat vector of all parameters. */
export interface ParameterSlice {
  readonly name: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** All weights of a model in one order, so that steps and workers can share plain vectors. */
export function parameterSlices(config: LlamaConfig): ParameterSlice[] {
  let begin = 0;
  return [...weightShapes(config)].map(([name, shape]) => {
    const slice = { name, shape, begin, end: begin + sizeOf(shape) };
    begin = slice.end;
    return slice;
  });
}

/** Length of the flat vector. */
export function parameterCount(slices: readonly ParameterSlice[]): number {
  return slices.at(-1)?.end ?? 0;
}

/** The weights as named tensors: views of the vector, not copies. */
export function namedTensors(
  slices: readonly ParameterSlice[],
  flat: Float32Array,
): Map<string, HostTensor & { dtype: 'float32' }> {
  return new Map(slices.map(({ name, shape, begin, end }) => [name, float32Tensor(shape, flat.subarray(begin, end))]));
}

/**
 * Weights before training: normal with deviation 1/√inputs, and 1/√(2·layers) of that for the two matrices that write into
 * the residual stream; 0.05 for embeddings; ones for norms.
 */
export function initialParameters(config: LlamaConfig, seed: number): Float32Array {
  const rng = random(`${seed}/weights`);
  const slices = parameterSlices(config);
  const flat = new Float32Array(parameterCount(slices));
  for (const { name, shape, begin, end } of slices) {
    const deviation = initialDeviation(name, shape, config.layers);
    for (let i = begin; i < end; i += 1) flat[i] = deviation === null ? 1 : deviation * normal(rng);
  }
  return flat;
}

function initialDeviation(name: string, shape: readonly number[], layers: number): number | null {
  const inputs = shape[1];
  if (inputs === undefined) return null;
  if (name === 'model.embed_tokens.weight') return 0.05;
  const writesToResidual = /\.(o_proj|down_proj)\.weight$/.test(name);
  return writesToResidual ? 1 / Math.sqrt(inputs * 2 * layers) : 1 / Math.sqrt(inputs);
}

/** A draw from the standard normal distribution (Box–Muller). */
function normal(rng: Random): number {
  return Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());
}
