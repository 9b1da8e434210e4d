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

/** What the broker says of the messages that it delivered. */
export interface Deliveries {
  /** Stream sequence of the newest one that was ever delivered. */
  readonly newestSequence: number;
  /** Delivered at least once, and not acknowledged. */
  readonly unacknowledged: number;
}

/**
 * Whether every message that was delivered and not acknowledged is here. Messages come in the order of the stream the first time, but
 * after a crash those that the dead trainer held come again later than newer ones; without them the oldest samples are not known.
 *
 * @param held stream sequences of the messages that are here and not acknowledged
 */
export function hasAllDelivered(held: Iterable<number>, { newestSequence, unacknowledged }: Deliveries): boolean {
  let count = 0;
  // What was delivered after the broker was asked must not make up for what is missing.
  for (const sequence of held) if (sequence <= newestSequence) count++;
  return count >= unacknowledged;
}

function inStreamOrder(samples: readonly TrainingSample[]): TrainingSample[] {
  return samples.toSorted((a, b) => a.streamSequence - b.streamSequence);
}
