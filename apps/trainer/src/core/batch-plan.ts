import { z } from 'zod';
import { PolicyVersion, TurnId } from '@hindcast/contracts';
import { staleRefusal, type Refusal, type TrainingSample } from './training-sample';

/** `next-batch.json`: the batch that a step is about to use. After a crash exactly this batch is rebuilt. */
export const NextBatch = z.strictObject({
  v: z.literal(1),
  version: PolicyVersion.min(1),
  turnIds: z.array(TurnId).min(1),
});
export type NextBatch = z.infer<typeof NextBatch>;

export interface WaitingSample {
  readonly sample: TrainingSample;
  /** When its message first arrived, milliseconds since the epoch. */
  readonly arrivedAt: number;
}

export interface BatchRule {
  readonly batchSize: number;
  readonly batchMin: number;
  readonly maxWaitMs: number;
  readonly maxStaleness: number;
}

export interface BatchPlan {
  /** Samples that no step may use, with the reason. */
  readonly refused: readonly { readonly sample: TrainingSample; readonly refusal: Refusal }[];
  /** Samples of the step that is due, in the order of the stream; `null` when none is. */
  readonly batch: readonly TrainingSample[] | null;
}

/**
 * Which step is due: the oldest `batchSize` samples, or, once the oldest has waited long enough, whatever there is from
 * `batchMin` on. Samples that the served version has outrun are refused first.
 */
export function planBatch(
  waiting: readonly WaitingSample[],
  servedVersion: number,
  rule: BatchRule,
  now: number,
): BatchPlan {
  const refused: { sample: TrainingSample; refusal: Refusal }[] = [];
  const fresh: WaitingSample[] = [];
  for (const entry of waiting) {
    const refusal = staleRefusal(entry.sample, servedVersion, rule.maxStaleness);
    if (refusal) refused.push({ sample: entry.sample, refusal });
    else fresh.push(entry);
  }
  const oldest = Math.min(...fresh.map(({ arrivedAt }) => arrivedAt));
  const isDue = fresh.length >= rule.batchSize || (fresh.length >= rule.batchMin && now - oldest >= rule.maxWaitMs);
  return { refused, batch: isDue ? inStreamOrder(fresh.map(({ sample }) => sample)).slice(0, rule.batchSize) : null };
}

/** The samples of a batch that was begun before a crash, once all of them came back; else `null`. */
export function rebuiltBatch(waiting: readonly WaitingSample[], next: NextBatch): TrainingSample[] | null {
  const byTurn = new Map(waiting.map(({ sample }) => [sample.turnId, sample]));
  const found = next.turnIds.map((turnId) => byTurn.get(turnId)).filter((sample) => sample !== undefined);
  return found.length === next.turnIds.length ? found : null;
}

function inStreamOrder(samples: readonly TrainingSample[]): TrainingSample[] {
  return samples.toSorted((a, b) => a.streamSequence - b.streamSequence);
}
