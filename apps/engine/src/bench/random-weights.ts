import {
  float32Tensor,
  mulberry32,
  sizeOf,
  weightShapes,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';

/** Half the width of the matrices' uniform distribution: wide enough for answers that are no even noise. */
const SPREAD = 0.12;

/** Reproducible weights: norms 1, everything else uniform around 0. */
export function randomWeights(config: LlamaConfig, seed: number): Map<string, HostTensor> {
  const uniform = mulberry32(seed);
  return new Map(
    [...weightShapes(config)].map(([name, shape]) => {
      const data = new Float32Array(sizeOf(shape));
      if (name.endsWith('norm.weight')) data.fill(1);
      else for (let i = 0; i < data.length; i++) data[i] = SPREAD * (2 * uniform() - 1);
      return [name, float32Tensor(shape, data)];
    }),
  );
}
