import type { SignalWeights } from '@hindcast/advantage';
import type { SampleCase } from '@hindcast/contracts';
import type { TrainingSample } from './training-sample';

/** `step.json`: every number that the loss of a step was made of, at full precision, so that a step can be audited. */
export interface StepRecord {
  readonly v: 1;
  readonly version: number;
  /** w_rl and w_opd as used. */
  readonly weights: SignalWeights;
  /** The clip range of the ratio is [1 − low, 1 + high]. */
  readonly clip: { readonly epsilonLow: number; readonly epsilonHigh: number };
  readonly samples: readonly {
    readonly turnId: string;
    readonly tenant: string;
    readonly case: SampleCase;
    readonly reward: number;
    readonly policyVersion: number;
    readonly streamSequence: number;
    readonly promptTokens: number;
    /** A, `[R]`. */
    readonly advantages: readonly number[];
    /** log π_rollout, `[R]` nats. */
    readonly rolloutLogProbs: readonly number[];
    /** log π_old as used, `[R]` nats. */
    readonly oldLogProbs: readonly number[];
    /** log π_θ after the step, `[R]` nats; `null` where it was not computed, or is none. */
    readonly newLogProbs: readonly number[] | null;
    /** log π_T, `[R]` nats; `null` without a teacher signal. */
    readonly teacherLogProbs: readonly number[] | null;
  }[];
}

export function stepRecord(
  version: number,
  samples: readonly TrainingSample[],
  step: {
    readonly weights: SignalWeights;
    readonly advantages: readonly Float64Array[];
    readonly oldLogProbs: readonly ArrayLike<number>[];
  },
  newLogProbs: readonly (ArrayLike<number> | null)[],
  { epsilonLow, epsilonHigh }: StepRecord['clip'],
): StepRecord {
  return {
    v: 1,
    version,
    weights: step.weights,
    clip: { epsilonLow, epsilonHigh },
    samples: samples.map((sample, i) => ({
      turnId: sample.turnId,
      tenant: sample.tenant,
      case: sample.case,
      reward: sample.reward,
      policyVersion: sample.policyVersion,
      streamSequence: sample.streamSequence,
      promptTokens: sample.promptIds.length,
      advantages: Array.from(step.advantages[i]!),
      rolloutLogProbs: Array.from(sample.rolloutLogProbs),
      oldLogProbs: Array.from(step.oldLogProbs[i]!),
      newLogProbs: arrayOf(newLogProbs[i]),
      teacherLogProbs: arrayOf(sample.teacherLogProbs),
    })),
  };
}

const arrayOf = (values: ArrayLike<number> | null | undefined): number[] | null => (values ? Array.from(values) : null);
