import {
  decodeIds,
  decodeLogProbs,
  type RefusedSample,
  type Sample,
  type SampleCase,
  type TopK,
  type TraceContext,
} from '@hindcast/contracts';
import { bucketOf } from './micro-batches';

/** A sample with its arrays decoded, as it waits for a step. */
export interface TrainingSample {
  readonly turnId: string;
  readonly tenant: string;
  /** Position of its message in the stream; a batch is ordered by it. */
  readonly streamSequence: number;
  readonly case: SampleCase;
  /** r; 0 for an OPD-only sample. */
  readonly reward: number;
  /** Version that sampled the answer. */
  readonly policyVersion: number;
  /** `[P]` int32. */
  readonly promptIds: Int32Array;
  /** `[R]` int32. */
  readonly responseIds: Int32Array;
  /** log π_rollout, `[R]` float32, nats. */
  readonly rolloutLogProbs: Float32Array;
  /** log π_T, `[R]` float32, nats; `null` when the sample carries no teacher signal. */
  readonly teacherLogProbs: Float32Array | null;
  /** K of the teacher's most likely ids that lie under the turn id in the bucket `top-k`; `null` when there are none. */
  readonly topKSize?: number | null;
  /** Those, once they were read. */
  readonly topK?: TopK | null;
  /** Its arrival in the trace of its turn. */
  readonly trace?: TraceContext | null;
}

export interface SampleLimits {
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly tokenBudget: number;
}

export type Refusal = Pick<RefusedSample, 'reason' | 'detail'>;

export function decodeSample(turnId: string, tenant: string, streamSequence: number, sample: Sample): TrainingSample {
  return {
    turnId,
    tenant,
    streamSequence,
    case: sample.case,
    reward: sample.reward,
    policyVersion: sample.policyVersion,
    promptIds: decodeIds(sample.promptIds),
    responseIds: decodeIds(sample.responseIds),
    rolloutLogProbs: decodeLogProbs(sample.rolloutLogProbs),
    teacherLogProbs: sample.teacherLogProbs && decodeLogProbs(sample.teacherLogProbs),
    topKSize: sample.topK,
  };
}

/** Tokens that the forward pass reads: all but the last one, which is only predicted. */
export function inputLength(sample: Pick<TrainingSample, 'promptIds' | 'responseIds'>): number {
  return sample.promptIds.length + sample.responseIds.length - 1;
}

/** Why a sample can never be trained, or `null`: it is never cut to fit. */
export function refusalOf(sample: TrainingSample, limits: SampleLimits): Refusal | null {
  const length = inputLength(sample);
  if (length > limits.maxPositions) {
    return { reason: 'over-token-budget', detail: `${length} tokens, the model has ${limits.maxPositions} positions` };
  }
  if (bucketOf(length) > limits.tokenBudget) {
    return {
      reason: 'over-token-budget',
      detail: `${length} tokens, padded to ${bucketOf(length)}, the budget is ${limits.tokenBudget}`,
    };
  }
  for (const ids of [sample.promptIds, sample.responseIds]) {
    const stranger = ids.find((id) => id >= limits.vocabSize);
    if (stranger !== undefined) {
      return { reason: 'out-of-vocabulary', detail: `token id ${stranger}, the vocabulary has ${limits.vocabSize}` };
    }
  }
  return logProbRefusal('rollout', sample.rolloutLogProbs) ?? logProbRefusal('teacher', sample.teacherLogProbs ?? []);
}

/** What engines write for log 0. Its ratio and its gap mean nothing, and one such token would outweigh a whole batch. */
const LOG_ZERO = -9999;

function logProbRefusal(name: string, logProbs: ArrayLike<number>): Refusal | null {
  for (let t = 0; t < logProbs.length; t++) {
    const value = logProbs[t]!;
    if (value > LOG_ZERO && Number.isFinite(value)) continue;
    return { reason: 'non-finite', detail: `the ${name} log-prob of token ${t} is ${value}` };
  }
  return null;
}

/** Lag of the answer's version behind the one that serves, in versions. */
export function stalenessOf(sample: Pick<TrainingSample, 'policyVersion'>, servedVersion: number): number {
  return Math.max(0, servedVersion - sample.policyVersion);
}

export function staleRefusal(sample: TrainingSample, servedVersion: number, maxStaleness: number): Refusal | null {
  const staleness = stalenessOf(sample, servedVersion);
  if (staleness <= maxStaleness) return null;
  return {
    reason: 'stale',
    detail: `sampled by version ${sample.policyVersion}, ${staleness} behind ${servedVersion}; at most ${maxStaleness} is trained`,
  };
}
