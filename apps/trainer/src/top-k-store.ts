import { decodeTopK, DependencyUnavailable, type TopK } from '@hindcast/contracts';
import { Buckets, Log, Metrics } from '@hindcast/platform';
import type { KV, KvEntry } from '@nats-io/kv';
import { Injectable } from '@nestjs/common';
import { topKProblem } from './core/top-k';
import type { TrainingSample } from './core/training-sample';

/**
 * The teacher's top-K of each turn, in KV `top-k`. A sample that should have one and has none is trained all the same, without that term
 * of the loss: the other numbers of it are whole, and none is made up.
 */
@Injectable()
export class TopKStore {
  private bucket: Promise<KV> | null = null;
  private readonly missingTotal;

  constructor(
    private readonly buckets: Buckets,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.missingTotal = metrics.counter(
      'trainer_top_k_missing_total',
      'Samples that were trained without the top-K that their turn should have',
      ['reason'],
    );
  }

  /**
   * The samples, each with its top-K where it has one.
   *
   * @throws DependencyUnavailable while NATS is away
   */
  async attachedTo(samples: readonly TrainingSample[], vocabSize: number): Promise<TrainingSample[]> {
    return await Promise.all(
      samples.map(async (sample) =>
        sample.topKSize ? { ...sample, topK: await this.topKOf(sample, vocabSize) } : sample,
      ),
    );
  }

  private async topKOf(sample: TrainingSample, vocabSize: number): Promise<TopK | null> {
    const { turnId } = sample;
    const entry = await this.read(turnId);
    if (entry?.operation !== 'PUT') return this.missing(turnId, 'absent', 'nothing is stored under the turn id');
    try {
      const topK = decodeTopK(entry.value);
      const problem = topKProblem(topK, sample, vocabSize);
      return problem === null ? topK : this.missing(turnId, 'unfit', problem);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.missing(turnId, 'unreadable', error.message);
    }
  }

  private missing(turnId: string, reason: string, detail: string): null {
    this.missingTotal.inc({ reason });
    this.log.warn('top-k.missing', { turnId, reason, detail });
    return null;
  }

  private async read(turnId: string): Promise<KvEntry | null> {
    try {
      this.bucket ??= this.buckets.open('topK');
      return await (await this.bucket).get(turnId);
    } catch (cause) {
      // Its stream may be gone, as after a restart of the server with an empty store.
      this.bucket = null;
      throw new DependencyUnavailable('nats', 'the bucket topK cannot be read', 1_000, { cause });
    }
  }
}
