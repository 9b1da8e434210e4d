import type { Method } from '@hindcast/contracts';
import type { AdamSettings } from './adam';
import type { LrSchedule } from './learning-rate';
import type { LossSettings } from './loss/combined-loss';
import type { Reduction } from './loss/reduction';
import type { Balance, BalancePreset } from './signal-balance';
import type { Tuning } from './tuning';

/** Everything that decides what a step does to the weights, with the symbol it has in the formulas of design.md section 4. */
export interface Hyperparameters {
  readonly method: Method;
  /** B: samples a step waits for. */
  readonly batchSize: number;
  /** w_rl, dimensionless. */
  readonly wRl: number;
  /** w_opd, dimensionless. */
  readonly wOpd: number;
  readonly balance: Balance;
  /** Weights of the `fixed` balance; `wRl` and `wOpd` multiply them. */
  readonly preset: BalancePreset;
  readonly learningRate: number;
  /** The learning rate is multiplied by it once eight of the last ten rewards are +1; 1 = never. */
  readonly successFactor: number;
  readonly schedule: LrSchedule;
  readonly adam: AdamSettings;
  /** Passes over one batch. */
  readonly epochs: number;
  /** Steps of the optimizer in each. */
  readonly miniBatches: number;
  /** Bound on KL(π_old ‖ π_θ) that ends the epochs early, nats per token, or `null` for none. */
  readonly targetKl: number | null;
  readonly oldLogProbs: 'rollout' | 'recomputed';
  /** C of the truncated importance weight min(π_recomputed/π_rollout, C), or `null` for none. */
  readonly importanceLimit: number | null;
  /** C of |A_opd| ≤ C, nats, or `null` for none. */
  readonly opdAdvantageLimit: number | null;
  /** Subtract a running mean from the rewards. */
  readonly hasRewardBaseline: boolean;
  readonly reduction: Reduction;
  readonly loss: LossSettings;
  /** Bound on the joint L2 norm of the gradient. */
  readonly maxGradNorm: number;
  readonly tuning: Tuning;
  /** Tokens that one forward and backward pass holds at most, padding included. */
  readonly tokenBudget: number;
  /** Of what a step draws at random: its dropout masks. */
  readonly seed: number;
}
