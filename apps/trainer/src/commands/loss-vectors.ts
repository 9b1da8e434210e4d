import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';
import { KL_TYPES } from '../core/loss/kl';

const Numbers = z.array(z.number());
const Optional = z.number().nullish();

/** Per-token arrays of one answer, `[R]` each, nats; names as the reference has them. */
const VectorSample = z
  .object({
    new: Numbers,
    rollout: Numbers.nullish(),
    recomputed: Numbers.nullish(),
    ref: Numbers.nullish(),
    teacher: Numbers.nullish(),
    entropy: Numbers.nullish(),
    reward: z.number().nullish(),
    mask: Numbers.nullish(),
  })
  .superRefine((sample, context) => {
    for (const [name, values] of Object.entries(sample)) {
      if (!Array.isArray(values) || values.length === sample.new.length) continue;
      context.addIssue({
        code: 'custom',
        path: [name],
        message: `has ${values.length} numbers, new has ${sample.new.length}`,
      });
    }
  });
export type VectorSample = z.infer<typeof VectorSample>;

/** Options of a case, by the reference's name and by its flag's. What is not set has the reference's default. */
const Options = z.looseObject({
  w_opd: z.number().default(1),
  w_rl: z.number().default(1),
  eps_low: Optional,
  eps_clip: Optional,
  eps_high: Optional,
  eps_clip_high: Optional,
  old: z.enum(['rollout', 'recomputed']).nullish(),
  use_rollout_logprobs: z.boolean().nullish(),
  kl_type: z.enum(KL_TYPES).nullish(),
  kl_loss_type: z.enum(KL_TYPES).nullish(),
  kl_coef: Optional,
  kl_loss_coef: Optional,
  entropy_coef: Optional,
  dual_clip: z.number().gt(1).nullish(),
  eps_clip_c: z.number().gt(1).nullish(),
  use_tis: z.boolean().nullish(),
  tis_clip: z.number().positive().nullish(),
  opd_advantage_limit: z.number().positive().nullish(),
  calculate_per_token_loss: z.boolean().nullish(),
});
const knownOptions = new Set(Object.keys(Options.shape));

const VectorCase = z
  .object({
    seed: z.union([z.number(), z.string()]).optional(),
    cfg: Options.prefault({}),
    samples: z.array(VectorSample).min(1),
    loss_sum_over_samples: z.number(),
    grad_wrt_new: z.array(Numbers),
    metrics: z.record(z.string(), z.unknown()).default({}),
  })
  .superRefine(({ cfg, samples, grad_wrt_new: gradients }, context) => {
    const fail = (path: (string | number)[], message: string): void =>
      void context.addIssue({ code: 'custom', path, message });
    const needed = neededArrays(cfg);
    samples.forEach((sample, i) => {
      for (const name of needed) if (!sample[name]) fail(['samples', i, name], 'is missing');
      const length = gradients[i]?.length ?? 0;
      if (length !== sample.new.length) {
        fail(['grad_wrt_new', i], `has ${length} numbers, the sample has ${sample.new.length}`);
      }
    });
    if (gradients.length > samples.length)
      fail(['grad_wrt_new'], `has ${gradients.length} rows for ${samples.length} samples`);
  });
export type VectorCase = z.infer<typeof VectorCase>;

const VectorFile = z.union([
  z.object({ cases: z.array(VectorCase).min(1) }).transform(({ cases }) => cases),
  z.array(VectorCase).min(1),
]);

/** Options of the cases that this loss does not have: where they matter, the numbers differ. */
export function unknownOptions(cases: readonly VectorCase[]): string[] {
  return [...new Set(cases.flatMap(({ cfg }) => Object.keys(cfg)))].filter((name) => !knownOptions.has(name)).sort();
}

/** The numbers that a case asks for. */
export interface CaseOptions {
  readonly old: 'rollout' | 'recomputed';
  readonly epsilonLow: number;
  readonly epsilonHigh: number;
  readonly dualClip: number | null;
  readonly klType: (typeof KL_TYPES)[number];
  readonly klCoef: number;
  readonly entropyCoef: number;
  readonly importanceLimit: number | null;
  readonly opdAdvantageLimit: number | null;
  readonly isPerToken: boolean;
}

export function optionsOf(cfg: VectorCase['cfg']): CaseOptions {
  return {
    old: cfg.old ?? (cfg.use_rollout_logprobs ? 'rollout' : 'recomputed'),
    epsilonLow: cfg.eps_low ?? cfg.eps_clip ?? 0.2,
    epsilonHigh: cfg.eps_high ?? cfg.eps_clip_high ?? 0.28,
    dualClip: cfg.dual_clip ?? cfg.eps_clip_c ?? null,
    klType: cfg.kl_type ?? cfg.kl_loss_type ?? 'k1',
    klCoef: cfg.kl_coef ?? cfg.kl_loss_coef ?? 0,
    entropyCoef: cfg.entropy_coef ?? 0,
    importanceLimit: cfg.use_tis ? (cfg.tis_clip ?? 2) : null,
    opdAdvantageLimit: cfg.opd_advantage_limit ?? null,
    isPerToken: cfg.calculate_per_token_loss ?? false,
  };
}

/**
 * Cases of a file in the form of the reference's combined-loss vectors.
 *
 * @throws HindcastError `invalid-json`, or `invalid-request` that says where and what
 */
export function parseVectors(text: string): VectorCase[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new HindcastError('invalid-json', `not JSON: ${(cause as Error).message}`, { cause });
  }
  const schema = Array.isArray(value) ? z.array(VectorCase).min(1) : VectorFile.options[0];
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 5).map(({ path, message }) => `${path.join('.')}: ${message}`);
  const more = parsed.error.issues.length - issues.length;
  throw new HindcastError('invalid-request', [...issues, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}

function neededArrays(cfg: VectorCase['cfg']): ('rollout' | 'recomputed' | 'ref' | 'entropy')[] {
  const { old, klCoef, entropyCoef, importanceLimit } = optionsOf(cfg);
  return [
    old,
    ...(importanceLimit === null ? [] : (['rollout'] as const)),
    ...(klCoef === 0 ? [] : (['ref'] as const)),
    ...(entropyCoef === 0 ? [] : (['entropy'] as const)),
  ];
}
