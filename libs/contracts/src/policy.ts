import { z } from 'zod';
import { PolicyVersion, Timestamp, TurnId } from './primitives';

/** What every gateway and dispatcher reads at start and watches: KV `policy`, key `current`. */
export const CurrentPolicy = z.strictObject({
  version: PolicyVersion,
  /** Model name to ask the engines for; `null` at version 0, when the base model answers. */
  adapter: z.string().min(1).nullable(),
  /** Base URLs (with `/v1`) of the engines that hold the version. */
  engines: z.array(z.string()),
  at: Timestamp,
});
export type CurrentPolicy = z.infer<typeof CurrentPolicy>;

/** KV `policy`, key `trainer`: what the trainer runs with, for status pages. Written at the trainer's start. */
export const TrainerSettings = z.strictObject({
  batchSize: z.int().positive(),
  batchMin: z.int().positive(),
  method: z.enum(['combine', 'binary-rl', 'opd', 'none']),
  backend: z.string(),
});
export type TrainerSettings = z.infer<typeof TrainerSettings>;

/** Finite numbers by name: loss/policy, clip_fraction, approx_kl, grad_norm, … */
export const StepMetrics = z.record(z.string(), z.number());

/** `rl.v1.policy.updated`: a step became a version, and what became of it. */
export const PolicyUpdated = z.strictObject({
  version: PolicyVersion.min(1),
  parent: PolicyVersion,
  /** `published`: it serves. `refused`: it failed the drift bound or the probe, and its turns count as trained. */
  state: z.enum(['published', 'refused']),
  reason: z.string().max(1000).nullable(),
  turnIds: z.array(TurnId).min(1),
  adapter: z.string().min(1),
  adapterDir: z.string().min(1),
  metrics: StepMetrics,
});
export type PolicyUpdated = z.infer<typeof PolicyUpdated>;
