import type { StepRow } from '@hindcast/contracts';
import { hasNumber, seriesOf, type SeriesValues } from './step-series';

export interface LinePlan {
  /** Name in docs/metrics.md. */
  readonly metric: string;
  readonly label: string;
}

export interface ChartPlan {
  readonly id: string;
  readonly title: string;
  /** `null` for a plain number. */
  readonly unit: string | null;
  /** What it shows, in a sentence. */
  readonly about: string;
  readonly lines: readonly LinePlan[];
}

const plan = (
  id: string,
  title: string,
  unit: string | null,
  about: string,
  lines: Readonly<Record<string, string>>,
): ChartPlan => ({
  id,
  title,
  unit,
  about,
  lines: Object.entries(lines).map(([metric, label]) => ({ metric, label })),
});

/** The charts of the training page, in their order. */
export const STEP_CHARTS: readonly ChartPlan[] = [
  plan('loss', 'Loss', null, 'The loss of the step and its parts.', {
    'loss/total': 'total',
    'loss/policy': 'policy',
    'loss/kl': 'KL term',
    'loss/entropy': 'entropy term',
    'loss/top_k': 'top-K distillation',
  }),
  plan(
    'reward',
    'Reward',
    null,
    'Mean reward over the samples of the batch, from −1 to 1; samples with a teacher alone have 0.',
    {
      reward_mean: 'mean',
    },
  ),
  plan(
    'advantage-mean',
    'Advantage, mean',
    null,
    'What the tokens were raised or lowered by, per signal and together.',
    {
      advantage_mean: 'both',
      advantage_rl_mean: 'reward',
      advantage_opd_mean: 'teacher',
    },
  ),
  plan('advantage-std', 'Advantage, spread', null, 'Standard deviation over the tokens, per signal and together.', {
    advantage_std: 'both',
    advantage_rl_std: 'reward',
    advantage_opd_std: 'teacher',
  }),
  plan('weights', 'Weights of the signals', null, 'w_rl and w_opd as the step used them.', {
    w_rl: 'w_rl',
    w_opd: 'w_opd',
  }),
  plan(
    'gap',
    'Teacher–student gap',
    'nats',
    'Mean of log π_T − log π_old: how much likelier the hinted model finds the answers.',
    {
      teacher_student_gap_mean: 'mean',
    },
  ),
  plan('kl', 'KL divergence', 'nats', 'From the base model, and how far the step itself moved.', {
    kl: 'from the base model',
    approx_kl: 'of the step',
  }),
  plan('entropy', 'Entropy', 'nats', 'How undecided the policy is at each token.', { entropy: 'mean' }),
  plan('clip', 'Clip fraction', null, 'Share of the tokens whose ratio the clip changed.', { clip_fraction: 'share' }),
  plan('gradient', 'Gradient norm', null, 'Over all trained weights, before clipping.', { grad_norm: 'norm' }),
  plan('learning-rate', 'Learning rate', null, 'As the step used it.', { learning_rate: 'rate' }),
  plan('staleness', 'Staleness', 'versions', 'How many versions the samples lag behind the one that serves.', {
    staleness_mean: 'mean',
    staleness_max: 'highest',
  }),
  plan(
    'agreement',
    'Trainer against engine',
    'nats',
    'How far the trainer’s log-probs lie from those that the engine gave.',
    {
      train_rollout_logprob_abs_diff_mean: 'mean',
      train_rollout_logprob_abs_diff_max: 'highest',
    },
  ),
  plan('length', 'Length of the answers', 'tokens', 'Sampled tokens of each sample.', {
    response_length_mean: 'mean',
    response_length_max: 'highest',
  }),
  plan('speed', 'Speed', 'tokens/s', 'Prompt and response tokens a second, over the whole step.', {
    tokens_per_second: 'tokens per second',
  }),
  plan('duration', 'Duration', 's', 'From the first read of the weights to the new ones.', { step_seconds: 'step' }),
];

export interface ChartLine {
  readonly label: string;
  /** `[steps]` */
  readonly values: SeriesValues;
}
export interface StepChart {
  readonly plan: ChartPlan;
  readonly lines: readonly ChartLine[];
}

/** The charts that these steps have numbers for; a line without one is left out, and so is a chart without a line. */
export function stepCharts(steps: readonly StepRow[], plans: readonly ChartPlan[] = STEP_CHARTS): StepChart[] {
  return plans
    .map((each) => ({
      plan: each,
      lines: each.lines
        .map(({ metric, label }) => ({ label, values: seriesOf(steps, metric) }))
        .filter(({ values }) => hasNumber(values)),
    }))
    .filter(({ lines }) => lines.length > 0);
}

const SAMPLE_CASES = [
  { metric: 'samples/opdRl', label: 'teacher and reward' },
  { metric: 'samples/opd', label: 'teacher' },
  { metric: 'samples/rl', label: 'reward' },
] as const;

/** Samples of each batch by their case; a case that no step has is left out. */
export function sampleBars(steps: readonly StepRow[]): ChartLine[] {
  return SAMPLE_CASES.map(({ metric, label }) => ({ label, values: seriesOf(steps, metric) })).filter(({ values }) =>
    hasNumber(values),
  );
}

/** Upper edges of stacked bars, `[lines][steps]`: each line on top of those before it. Where a line has no number its part is missing. */
export function stacked(lines: readonly SeriesValues[]): (number | null)[][] {
  const length = Math.max(0, ...lines.map((values) => values.length));
  const tops = Array.from({ length }, () => 0);
  return lines.map((values) =>
    tops.map((_, at) => {
      const value = values[at] ?? null;
      if (value === null) return null;
      tops[at] = tops[at]! + value;
      return tops[at]!;
    }),
  );
}
