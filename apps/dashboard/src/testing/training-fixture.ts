import { StepsPage, type StepRow } from '@hindcast/contracts';
import { NOW } from './now';
import { randomOf } from './random';

const STEP_MS = 840_000;

export const stateOf = (version: number): 'published' | 'refused' | 'rolled-back' =>
  version % 17 === 0 ? 'refused' : version === 30 ? 'rolled-back' : 'published';
export const reasonOf = (version: number): string | null =>
  ({
    published: null,
    refused: 'drift of 6.4 nats is above DRIFT_REFUSE_NATS=6',
    'rolled-back': 'lost its trial: mean eval score 0.21 against 0.44, over 40 and 61 turns',
  })[stateOf(version)];
export const madeAt = (version: number, versions: number): number => NOW - (versions - version) * STEP_MS;

/** Every metric that a step may have; every ninth step has no sample with a teacher, and so nothing that needs one. */
function metricsOf(version: number): StepRow['metrics'] {
  const random = randomOf(version);
  const noise = (size: number): number => (random() - 0.5) * size;
  const progress = 1 - Math.exp(-version / 60);
  const taught = version % 9 === 0 ? 0 : 4 + Math.floor(random() * 5);
  const both = Math.floor(taught * 0.7);
  const teacher = {
    advantage_opd_mean: 0.3 - 0.2 * progress + noise(0.2),
    advantage_opd_std: 0.9 - 0.3 * progress + noise(0.2),
    teacher_student_gap_mean: 0.35 - 0.25 * progress + noise(0.2),
  };
  return {
    'loss/total': -0.08 - 0.2 * progress + noise(0.06),
    'loss/policy': -0.1 - 0.2 * progress + noise(0.06),
    'loss/kl': 0.3 * (0.01 + 0.12 * progress) + noise(0.004),
    'loss/entropy': 0,
    kl: 0.01 + 0.12 * progress + noise(0.01),
    approx_kl: 0.004 + noise(0.01),
    entropy: 1.9 - 0.5 * progress + noise(0.1),
    clip_fraction: Math.max(0, 0.08 + noise(0.08)),
    grad_norm: 0.9 + noise(0.5),
    learning_rate: version < 100 ? 5e-3 : 1.25e-3,
    w_rl: 0.2,
    w_opd: 1,
    advantage_mean: 0.1 * progress + noise(0.2),
    advantage_std: 0.8 + noise(0.2),
    advantage_rl_mean: 0.2 * (-0.3 + 0.9 * progress) + noise(0.05),
    advantage_rl_std: 0.18 + noise(0.03),
    ...(taught > 0 ? teacher : {}),
    reward_mean: -0.3 + 0.9 * progress + noise(0.3),
    train_rollout_logprob_abs_diff_mean: 0.002 + random() * 0.001,
    train_rollout_logprob_abs_diff_max: 0.02 + random() * 0.02,
    staleness_mean: random(),
    staleness_max: 1 + Math.floor(random() * 3),
    samples: 16,
    'samples/opdRl': both,
    'samples/opd': taught - both,
    'samples/rl': 16 - taught,
    response_length_mean: 80 + noise(30),
    response_length_max: 200 + Math.floor(noise(60)),
    step_seconds: 2.4 + noise(0.4),
    tokens_per_second: 1_900 + noise(240),
  };
}

/** A page of `steps` steps in all, as `before` and `limit` say. */
export function stepsFixture(steps: number, query = new URLSearchParams()): StepsPage {
  const before = Number(query.get('before') ?? steps + 1);
  const limit = Number(query.get('limit') ?? 200);
  const newest = Math.min(before - 1, steps);
  const length = Math.max(0, Math.min(limit, newest));
  return StepsPage.parse({
    steps: Array.from({ length }, (_, at) => newest - at).map((version) => ({
      version,
      parent: version - 1,
      at: madeAt(version, steps),
      state: stateOf(version),
      reason: reasonOf(version),
      turns: 16,
      metrics: metricsOf(version),
    })),
    next: newest - length >= 1 ? newest - length + 1 : null,
  });
}
