import { z } from 'zod';
import { ModelFormatError } from './errors';

/** `rope_scaling` of type `llama3`: slow rotations are slowed by `factor`, fast ones kept, those between blended. */
export interface Llama3RopeScaling {
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalMaxPositions: number;
}

export interface RopeConfig {
  readonly ropeTheta: number;
  /** Stretched rotation of Llama 3.1 and later. */
  readonly ropeScaling?: Llama3RopeScaling;
}

// What transformers assumes where no file says it, as for the first two generations of LLaMA.
const DEFAULT_THETA = 10_000;

const positive = z.number().positive();
/** Either `rope_scaling` (transformers before 5) or `rope_parameters` (from 5 on, with the base frequency inside). */
export const RopeFields = z
  .looseObject({
    rope_type: z.string().nullish(),
    type: z.string().nullish(),
    rope_theta: positive.nullish(),
    partial_rotary_factor: z.number().nullish(),
  })
  .nullish();
type RopeFields = z.infer<typeof RopeFields>;

const Llama3Rope = z
  .looseObject({
    factor: z.number().min(1),
    low_freq_factor: positive,
    high_freq_factor: positive,
    original_max_position_embeddings: z.number().int().positive(),
  })
  .refine((rope) => rope.high_freq_factor > rope.low_freq_factor, {
    path: ['high_freq_factor'],
    error: 'is not above low_freq_factor',
  });

// What a rotation of the default type may carry besides: nothing that changes it.
const PLAIN = new Set(['rope_type', 'type', 'rope_theta', 'partial_rotary_factor']);

/** Base frequency and scaling, wherever the file has them. Refuses by name every scaling but Llama 3's. */
export function readRope(
  path: string,
  file: { rope_theta?: number | null; rope_scaling?: RopeFields; rope_parameters?: RopeFields },
): RopeConfig {
  const refuse = (problem: string): never => {
    throw new ModelFormatError(path, problem);
  };
  const [field, scaling] = file.rope_scaling
    ? (['rope_scaling', file.rope_scaling] as const)
    : (['rope_parameters', file.rope_parameters ?? {}] as const);
  const thetas = [file.rope_theta, file.rope_scaling?.rope_theta, file.rope_parameters?.rope_theta];
  const [ropeTheta = DEFAULT_THETA, other] = new Set(thetas.filter((theta) => theta != null));
  if (other !== undefined) refuse(`rope_theta is ${ropeTheta} in one place and ${other} in another`);
  if ((scaling.partial_rotary_factor ?? 1) !== 1)
    refuse(`${field}.partial_rotary_factor: heads that are rotated in part are not supported`);

  const type = scaling.rope_type ?? scaling.type ?? 'default';
  if (type === 'default') {
    const unknown = Object.entries(scaling).find(([key, value]) => !PLAIN.has(key) && value !== null);
    if (unknown) refuse(`${field}.${unknown[0]}: a rotation of type "default" has no such field`);
    return { ropeTheta };
  }
  if (type !== 'llama3') refuse(`RoPE scaling ${JSON.stringify(type)} is not supported; "default" and "llama3" are`);
  const parsed = Llama3Rope.safeParse(scaling);
  if (!parsed.success)
    return refuse(
      `${field}: ${parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
    );
  return {
    ropeTheta,
    ropeScaling: {
      factor: parsed.data.factor,
      lowFrequencyFactor: parsed.data.low_freq_factor,
      highFrequencyFactor: parsed.data.high_freq_factor,
      originalMaxPositions: parsed.data.original_max_position_embeddings,
    },
  };
}
