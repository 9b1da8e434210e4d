import { z } from 'zod';
import { PolicyVersion, Timestamp, TurnId } from './primitives';

/** A version on trial: it answers a share of the sessions until its eval scores are compared with those of the version that serves. */
export const CanaryPolicy = z.strictObject({
  version: PolicyVersion.min(1),
  /** As in `CurrentPolicy`. */
  adapter: z.string().min(1).nullable(),
  engines: z.array(z.string()),
  /** Share of the sessions that it answers. */
  share: z.number().gt(0).lt(1),
  /** Since when. */
  at: Timestamp,
});
export type CanaryPolicy = z.infer<typeof CanaryPolicy>;

/** What every gateway, dispatcher and teacher reads at start and watches: KV `policy`, key `current`. */
export const CurrentPolicy = z.strictObject({
  version: PolicyVersion,
  /** Model name to ask the engines for; `null` where the base model's name answers: at version 0, and with `weights: replaced`. */
  adapter: z.string().min(1).nullable(),
  /** Base URLs (with `/v1`) of the engines that hold the version. */
  engines: z.array(z.string()),
  /**
   * `named`: a version has a model name of its own, and every name's weights are fixed. `replaced`: the base model's name answers with
   * whatever weights the engine was given last; it says itself which these are.
   */
  weights: z.enum(['named', 'replaced']).default('named'),
  canary: CanaryPolicy.nullable().default(null),
  at: Timestamp,
});
export type CurrentPolicy = z.infer<typeof CurrentPolicy>;

/** KV `policy`, key `trainer`: what the trainer runs with, for status pages. Written when it changes. */
export const TrainerSettings = z.strictObject({
  batchSize: z.int().positive(),
  batchMin: z.int().positive(),
  method: z.enum(['combine', 'binary-rl', 'opd', 'none']),
  backend: z.string(),
  /** Weights of the two signals, as fixed or as used last; `null` until a step has set them. */
  wRl: z.number().nonnegative().nullable().default(null),
  wOpd: z.number().nonnegative().nullable().default(null),
  /** Versions whose weights are there, newest first: what one may go back to is among them. `null`: not said. */
  kept: z.array(PolicyVersion).nullable().default(null),
});
export type TrainerSettings = z.infer<typeof TrainerSettings>;

/** Finite numbers by name: loss/policy, clip_fraction, approx_kl, grad_norm, … */
export const StepMetrics = z.record(z.string(), z.number());

/** `rl.v1.policy.updated`: a step became a version, and what became of it. */
export const PolicyUpdated = z.strictObject({
  version: PolicyVersion.min(1),
  parent: PolicyVersion,
  /**
   * `published`: it serves. `refused`: it failed the drift bound or the probe. `rolled-back`: an earlier version serves in its place, and it
   * never will again. Its turns count as trained in every case.
   */
  state: z.enum(['published', 'refused', 'rolled-back']),
  reason: z.string().max(1000).nullable(),
  turnIds: z.array(TurnId).min(1),
  adapter: z.string().min(1),
  adapterDir: z.string().min(1),
  metrics: StepMetrics,
});
export type PolicyUpdated = z.infer<typeof PolicyUpdated>;
