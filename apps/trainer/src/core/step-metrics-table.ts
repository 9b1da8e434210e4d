/** How one number of a step is explained and exposed. */
export interface StepMetric {
  /** `1` for what has no unit. */
  readonly unit: 'nats' | 'tokens' | 'samples' | 'versions' | 'epochs' | 'updates' | 'seconds' | 'tokens/s' | '1';
  readonly help: string;
  /** Prometheus gauge of the newest step, without the prefix that all metrics have. */
  readonly gauge: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const ofCase = (name: 'opdRl' | 'opd' | 'rl', help: string): StepMetric => ({
  unit: 'samples',
  help,
  gauge: 'trainer_step_case_samples',
  labels: { case: name },
});

/**
 * Every number that a step may have, by its name in manifests, announcements, `metrics.jsonl` and TensorBoard; docs/metrics.md has the
 * formulas. `epoch_N` stands for `epoch_1`, `epoch_2`, …
 */
export const STEP_METRICS = {
  'loss/total': { unit: '1', help: 'Loss that was minimised', gauge: 'trainer_step_loss' },
  'loss/policy': { unit: '1', help: 'Clipped surrogate', gauge: 'trainer_step_loss_policy' },
  'loss/kl': { unit: '1', help: 'What the KL term adds to the loss', gauge: 'trainer_step_loss_kl' },
  'loss/entropy': { unit: '1', help: 'What the entropy bonus adds to the loss', gauge: 'trainer_step_loss_entropy' },
  'loss/top_k': { unit: '1', help: 'What the top-K distillation adds to the loss', gauge: 'trainer_step_loss_top_k' },
  kl: { unit: 'nats', help: 'KL to the base model per token', gauge: 'trainer_step_kl_nats' },
  entropy: { unit: 'nats', help: 'Entropy of the policy per token', gauge: 'trainer_step_entropy_nats' },
  approx_kl: {
    unit: 'nats',
    help: 'KL of the old policy to the new one per token',
    gauge: 'trainer_step_approx_kl_nats',
  },
  clip_fraction: {
    unit: '1',
    help: 'Share of tokens at which the clip acts',
    gauge: 'trainer_step_clip_ratio',
  },
  'epoch_N/approx_kl': {
    unit: 'nats',
    help: 'KL of the old policy to that of an epoch per token',
    gauge: 'trainer_step_epoch_approx_kl_nats',
    labels: { epoch: 'N' },
  },
  'epoch_N/clip_fraction': {
    unit: '1',
    help: 'Share of tokens at which the clip acts in an epoch',
    gauge: 'trainer_step_epoch_clip_ratio',
    labels: { epoch: 'N' },
  },
  epochs: { unit: 'epochs', help: 'Whole passes over the batch', gauge: 'trainer_step_epochs' },
  stopped_early: { unit: '1', help: '1 when the KL bound ended the epochs', gauge: 'trainer_step_stopped_early' },
  updates: { unit: 'updates', help: 'Steps of the optimizer', gauge: 'trainer_step_updates' },
  grad_norm: { unit: '1', help: 'Norm of the gradient before clipping', gauge: 'trainer_step_grad_norm' },
  learning_rate: { unit: '1', help: 'Learning rate', gauge: 'trainer_step_learning_rate' },
  w_rl: { unit: '1', help: 'Weight of the reward', gauge: 'trainer_step_w_rl' },
  w_opd: { unit: '1', help: 'Weight of the teacher', gauge: 'trainer_step_w_opd' },
  advantage_mean: { unit: '1', help: 'Mean advantage over tokens', gauge: 'trainer_step_advantage_mean' },
  advantage_std: { unit: '1', help: 'Spread of the advantage', gauge: 'trainer_step_advantage_std' },
  advantage_rl_mean: { unit: '1', help: 'Mean advantage by reward', gauge: 'trainer_step_advantage_rl_mean' },
  advantage_rl_std: { unit: '1', help: 'Spread of the advantage by reward', gauge: 'trainer_step_advantage_rl_std' },
  advantage_opd_mean: { unit: '1', help: 'Mean advantage by teacher', gauge: 'trainer_step_advantage_opd_mean' },
  advantage_opd_std: { unit: '1', help: 'Spread of the advantage by teacher', gauge: 'trainer_step_advantage_opd_std' },
  reward_mean: { unit: '1', help: 'Mean reward', gauge: 'trainer_step_reward_mean' },
  teacher_student_gap_mean: {
    unit: 'nats',
    help: 'Mean log-prob gap of teacher and old policy',
    gauge: 'trainer_step_teacher_student_gap_mean_nats',
  },
  train_rollout_logprob_abs_diff_mean: {
    unit: 'nats',
    help: 'Mean distance of trainer and engine log-probs',
    gauge: 'trainer_step_train_rollout_logprob_abs_diff_mean_nats',
  },
  train_rollout_logprob_abs_diff_max: {
    unit: 'nats',
    help: 'Largest distance of trainer and engine log-probs',
    gauge: 'trainer_step_train_rollout_logprob_abs_diff_max_nats',
  },
  staleness_mean: { unit: 'versions', help: 'Mean lag of the samples', gauge: 'trainer_step_staleness_mean_versions' },
  staleness_max: { unit: 'versions', help: 'Largest lag of a sample', gauge: 'trainer_step_staleness_max_versions' },
  samples: { unit: 'samples', help: 'Samples of the step', gauge: 'trainer_step_samples' },
  'samples/opdRl': ofCase('opdRl', 'Samples with both signals'),
  'samples/opd': ofCase('opd', 'Samples with a teacher only'),
  'samples/rl': ofCase('rl', 'Samples with a reward only'),
  tokens: { unit: 'tokens', help: 'Prompt and response tokens', gauge: 'trainer_step_tokens' },
  response_tokens: { unit: 'tokens', help: 'Response tokens', gauge: 'trainer_step_response_tokens' },
  response_length_mean: {
    unit: 'tokens',
    help: 'Mean length of a response',
    gauge: 'trainer_step_response_length_mean_tokens',
  },
  response_length_max: {
    unit: 'tokens',
    help: 'Longest response',
    gauge: 'trainer_step_response_length_max_tokens',
  },
  padding_share: { unit: '1', help: 'Share of positions that are padding', gauge: 'trainer_step_padding_ratio' },
  step_seconds: { unit: 'seconds', help: 'Duration of the step', gauge: 'trainer_step_seconds' },
  tokens_per_second: {
    unit: 'tokens/s',
    help: 'Tokens a second of the step',
    gauge: 'trainer_step_tokens_per_second',
  },
} as const satisfies Record<string, StepMetric>;

const ROWS: ReadonlyMap<string, StepMetric> = new Map(Object.entries<StepMetric>(STEP_METRICS));

/** The row of a number, with the labels of its gauge; `null` for what is no part of the step itself, which came later (drift, evaluations). */
export function stepMetricOf(name: string): StepMetric | null {
  const [, epoch, rest] = /^epoch_([1-9]\d*)(\/.*)$/.exec(name) ?? [];
  if (epoch === undefined) return ROWS.get(name) ?? null;
  const row = ROWS.get(`epoch_N${rest}`);
  return row ? { ...row, labels: { epoch } } : null;
}

/** The entries of a record that are a step's own. */
export function ownMetrics(metrics: Readonly<Record<string, number>>): [name: string, value: number][] {
  return Object.entries(metrics).filter(([name]) => stepMetricOf(name) !== null);
}
