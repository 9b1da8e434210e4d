import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Method } from '@hindcast/contracts';
import { loraModules } from '@hindcast/language-model';
import { baseUrl, booleanFlag, commaList, commonConfig, parseConfig, secret } from '@hindcast/platform';
import { z } from 'zod';
import { BACKENDS } from './backends/choose-backend';
import { KL_TYPES } from './core/loss/kl';
import { REDUCTIONS } from './core/loss/reduction';
import { LR_SCHEDULES } from './core/learning-rate';
import { BALANCE_PRESET_NAMES, BALANCES } from './core/signal-balance';
import type { Hyperparameters } from './core/hyperparameters';

/** Above it products of two such numbers come near the end of float32: a step would be infinite, and its samples refused for that. */
const LARGEST = 1e9;
const positive = z.coerce.number().positive().max(LARGEST);
const nonNegative = z.coerce.number().nonnegative().max(LARGEST);
const count = z.coerce.number().int().positive();
/** Of a timer: a longer one would go off at once. */
const milliseconds = count.max(2 ** 31 - 1);

/** Samples that are held at once, unacknowledged: far more than a batch. */
export const HELD_SAMPLES = 4096;

const Variables = commonConfig(8084).extend({
  /** Base model, Hugging Face format. */
  MODEL_DIR: z.string().default('models/seed'),
  /** Versions of the policy. Default `${DATA_DIR}/policies`. */
  POLICY_DIR: z.string().optional(),
  /** Events for TensorBoard, `off` for none. Default `${POLICY_DIR}/tensorboard`. */
  TENSORBOARD_DIR: z.string().optional(),
  /** `auto` takes the best that loads. */
  BACKEND: z.enum(['auto', ...BACKENDS]).default('auto'),
  /** Threads of one operator. Default: half of the cores, so that an engine on the same machine keeps its share. */
  THREADS: count.max(1024).default(Math.max(1, Math.floor(availableParallelism() / 2))),
  /** Where `npm run tfjs-node:build` left TensorFlow's native module. */
  TFJS_NODE_DIR: z.string().default('.cache/tfjs-node-binding'),
  /** tfjs-node-gpu multiplies in TF32 where the GPU has it: faster, and 1e-3 off. */
  TF32: booleanFlag.default(false),
  /** `none` never takes a step; the others differ at the gate and train alike. */
  METHOD: Method.default('combine'),
  W_RL: nonNegative.default(1).describe('w_rl'),
  W_OPD: nonNegative.default(1).describe('w_opd'),
  BALANCE: z.enum(BALANCES).default('fixed'),
  /** Weights of the `fixed` balance; W_RL and W_OPD multiply them. */
  BALANCE_PRESET: z.enum(BALANCE_PRESET_NAMES).default('balanced'),
  BATCH_SIZE: count.max(HELD_SAMPLES).default(16).describe('B'),
  /** Samples of the smallest step. Default: a quarter of the batch. */
  BATCH_MIN: count.optional(),
  /** How long the oldest sample waits for a full batch. */
  BATCH_MAX_WAIT_SECONDS: nonNegative.default(600),
  LEARNING_RATE: positive.default(1e-5).describe('α'),
  /** The learning rate is multiplied by it once eight of the last ten rewards are +1. */
  LR_SUCCESS_FACTOR: positive.default(1),
  LR_SCHEDULE: z.enum(LR_SCHEDULES).default('constant'),
  /** Steps over which the learning rate rises from 0. */
  LR_WARMUP_STEPS: z.coerce.number().int().nonnegative().default(0),
  /** Step from which it is 0; needed by the schedules that fall. */
  LR_TOTAL_STEPS: count.optional(),
  ADAM_BETA1: nonNegative.lt(1).default(0.9).describe('β₁'),
  ADAM_BETA2: nonNegative.lt(1).default(0.999).describe('β₂'),
  ADAM_EPSILON: positive.default(1e-8).describe('ε'),
  /** Decoupled from the gradient (AdamW). */
  WEIGHT_DECAY: nonNegative.default(0).describe('λ'),
  /** Passes over one batch; from the second on the clip acts. */
  EPOCHS: count.default(1),
  /** Steps of the optimizer in each of them. */
  MINI_BATCHES: count.default(1),
  /** KL of the old policy to the new one, nats per token, that ends the epochs; unset: none. */
  TARGET_KL: positive.optional(),
  TUNING: z.enum(['lora', 'full']).default('lora'),
  LORA_RANK: count.max(4096).default(16),
  LORA_ALPHA: positive.default(32),
  /** Modules that the adapter adapts. */
  LORA_TARGETS: commaList
    .pipe(z.array(z.enum(loraModules)).transform((modules) => [...new Set(modules)]))
    .default([...loraModules]),
  /** Scale by α/√r instead of α/r (rsLoRA). */
  LORA_RANK_STABILISED: booleanFlag.default(false),
  LORA_DROPOUT: nonNegative.lt(1).default(0),
  CLIP_EPSILON_LOW: positive.max(1).default(0.2).describe('ε_low'),
  CLIP_EPSILON_HIGH: positive.default(0.28).describe('ε_high'),
  /** c of the dual clip; unset: none. */
  DUAL_CLIP: z.coerce.number().gt(1).optional(),
  /** Bound on |log ρ| before exp, nats. */
  LOG_RATIO_LIMIT: positive.max(80).default(20),
  REDUCTION: z.enum(REDUCTIONS).default('sample-mean'),
  OLD_LOG_PROBS: z.enum(['rollout', 'recomputed']).default('rollout'),
  /** C of the truncated importance weights between recomputed and rollout log-probs; unset: none. */
  IMPORTANCE_LIMIT: positive.optional(),
  /** C of |A_opd| ≤ C, nats; unset: none. */
  OPD_ADVANTAGE_LIMIT: positive.optional(),
  REWARD_BASELINE: booleanFlag.default(false),
  KL_COEF: nonNegative.default(0).describe('c_KL'),
  KL_TYPE: z.enum(KL_TYPES).default('k3'),
  ENTROPY_COEF: nonNegative.default(0).describe('c_H'),
  /** c_K: weight of the distillation loss over the teacher's K most likely ids (TEACHER_TOP_K). */
  TOP_K_COEF: nonNegative.default(0).describe('c_K'),
  /** Mean KL to the base model per token from which no version is published; unset: no bound. */
  KL_ALARM_NATS: positive.optional(),
  /** Distance of the mean entropy per token from that of the first step, likewise. */
  ENTROPY_ALARM_NATS: positive.optional(),
  /** Its square stands in the optimizer's moments, which are float32. */
  MAX_GRAD_NORM: positive.default(1),
  /** Make activations again in the backward pass: less memory, a third more time. For backends that run op by op. */
  RECOMPUTE: z.enum(['auto', 'on', 'off']).default('auto'),
  /** The record of a step has the log-probs of its samples under the weights that it made; costs a forward pass. */
  RECORD_NEW_LOG_PROBS: booleanFlag.default(true),
  /** Tokens of one forward and backward pass, padding included; a longer sample is refused. */
  TOKEN_BUDGET: count.default(8192),
  /** Largest lag of a sample's version behind the one that serves, in versions. */
  MAX_STALENESS: z.coerce.number().int().nonnegative().default(4),
  /** Mean nats per probe answer; unset: no bound. */
  DRIFT_ALARM_NATS: positive.optional(),
  DRIFT_REFUSE_NATS: positive.optional(),
  /** JSON: an array of user messages, or of arrays of messages. Default: `probe_prompts.json` of MODEL_DIR, if there. */
  PROBE_PROMPTS_FILE: z.string().optional(),
  PROBE_ANSWERS: count.default(24),
  PROBE_MAX_TOKENS: count.default(128),
  /** Engines to publish to, with `/v1`. */
  POLICY_BASE_URL: commaList
    .pipe(z.array(baseUrl).transform((urls) => [...new Set(urls)]))
    .default(['http://127.0.0.1:8000/v1']),
  POLICY_DIALECT: z.enum(['vllm', 'sglang']).default('vllm'),
  POLICY_API_KEY: secret.optional(),
  /** How often the engines' adapters are compared with what should be there. */
  RECONCILE_MS: milliseconds.default(3_000),
  ENGINE_TIMEOUT_MS: milliseconds.default(60_000),
  /** Of an update of the whole weights, which waits for the answers under way. */
  ENGINE_UPDATE_TIMEOUT_MS: milliseconds.default(600_000),
  /** Share of the sessions on which a new version is tried before it serves them all; 0: no trial. */
  CANARY_SHARE: nonNegative.lt(1).default(0),
  /** Scored turns that the new version and the old one each need. */
  CANARY_MIN_TURNS: count.default(20),
  /** A version that lowers the mean eval score (−1 to 1) by more is rolled back. */
  CANARY_MAX_DROP: nonNegative.default(0.2),
  /** After that the trial is decided with the turns that there are. */
  CANARY_MAX_WAIT_SECONDS: positive.default(3600),
  /** Newest versions whose weights are kept, and as many of those that served; manifests are kept for ever. */
  KEEP_VERSIONS: z.coerce.number().int().min(3).default(10),
  /** How long a batch waits for messages that a killed trainer held. */
  REBUILD_SECONDS: positive.default(120),
  /** Seed of the first adapter, of dropout and of the probe answers. */
  SEED: z.coerce.number().int().nonnegative().default(0),
});

export const TrainerConfig = Variables.transform((env) => ({
  ...env,
  POLICY_DIR: env.POLICY_DIR ?? join(env.DATA_DIR, 'policies'),
  TENSORBOARD_DIR: env.TENSORBOARD_DIR ?? join(env.POLICY_DIR ?? join(env.DATA_DIR, 'policies'), 'tensorboard'),
  BATCH_MIN: env.BATCH_MIN ?? Math.max(1, Math.floor(env.BATCH_SIZE / 4)),
}))
  .refine((env) => env.BATCH_MIN <= env.BATCH_SIZE, { path: ['BATCH_MIN'], error: 'is larger than BATCH_SIZE' })
  .refine((env) => env.LR_SCHEDULE === 'constant' || env.LR_TOTAL_STEPS !== undefined, {
    path: ['LR_TOTAL_STEPS'],
    error: 'is needed by LR_SCHEDULE=linear and cosine',
  })
  .refine((env) => env.LR_WARMUP_STEPS < (env.LR_TOTAL_STEPS ?? Infinity) || env.LR_SCHEDULE === 'constant', {
    path: ['LR_WARMUP_STEPS'],
    error: 'is not smaller than LR_TOTAL_STEPS: the learning rate would fall from its peak to 0 at once',
  })
  .refine((env) => !(env.LORA_RANK_STABILISED && env.TUNING === 'lora' && env.POLICY_DIALECT === 'sglang'), {
    path: ['LORA_RANK_STABILISED'],
    // SGLang passes over `use_rslora` of an adapter's configuration.
    error: 'cannot be served by SGLang, which scales every adapter by α / r; raise LORA_ALPHA by √r instead',
  });
export type TrainerConfig = Readonly<z.infer<typeof TrainerConfig>>;

/** @throws HindcastError `config-invalid` that lists every mistake */
export const readConfig = (env: Record<string, string | undefined>): TrainerConfig =>
  parseConfig('trainer', TrainerConfig, env);

/** The part of the configuration that decides what a step does to the weights. */
export function hyperparametersOf(config: TrainerConfig): Hyperparameters {
  return {
    method: config.METHOD,
    batchSize: config.BATCH_SIZE,
    wRl: config.W_RL,
    wOpd: config.W_OPD,
    balance: config.BALANCE,
    preset: config.BALANCE_PRESET,
    learningRate: config.LEARNING_RATE,
    successFactor: config.LR_SUCCESS_FACTOR,
    schedule: {
      kind: config.LR_SCHEDULE,
      warmupSteps: config.LR_WARMUP_STEPS,
      totalSteps: config.LR_TOTAL_STEPS ?? null,
    },
    adam: {
      beta1: config.ADAM_BETA1,
      beta2: config.ADAM_BETA2,
      epsilon: config.ADAM_EPSILON,
      weightDecay: config.WEIGHT_DECAY,
    },
    epochs: config.EPOCHS,
    miniBatches: config.MINI_BATCHES,
    targetKl: config.TARGET_KL ?? null,
    oldLogProbs: config.OLD_LOG_PROBS,
    importanceLimit: config.IMPORTANCE_LIMIT ?? null,
    opdAdvantageLimit: config.OPD_ADVANTAGE_LIMIT ?? null,
    hasRewardBaseline: config.REWARD_BASELINE,
    reduction: config.REDUCTION,
    loss: {
      clip: {
        epsilonLow: config.CLIP_EPSILON_LOW,
        epsilonHigh: config.CLIP_EPSILON_HIGH,
        dualClip: config.DUAL_CLIP ?? null,
        logRatioLimit: config.LOG_RATIO_LIMIT,
      },
      klType: config.KL_TYPE,
      klCoef: config.KL_COEF,
      entropyCoef: config.ENTROPY_COEF,
      topKCoef: config.TOP_K_COEF,
      measuresKl: config.KL_ALARM_NATS !== undefined,
      measuresEntropy: config.ENTROPY_ALARM_NATS !== undefined,
    },
    maxGradNorm: config.MAX_GRAD_NORM,
    tuning:
      config.TUNING === 'full'
        ? { kind: 'full' }
        : {
            kind: 'lora',
            rank: config.LORA_RANK,
            alpha: config.LORA_ALPHA,
            targets: config.LORA_TARGETS,
            isRankStabilised: config.LORA_RANK_STABILISED,
            dropout: config.LORA_DROPOUT,
          },
    tokenBudget: config.TOKEN_BUDGET,
    seed: config.SEED,
  };
}
