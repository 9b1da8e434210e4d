import type { Log, Nats } from '@hindcast/platform';
import type { TrainerConfig } from './config';
import { hasAllDelivered, planBatch, rebuiltBatch, type BatchPlan, type NextBatch } from './core/batch-plan';
import type { TrainingSample } from './core/training-sample';
import { deliveredSamples } from './delivered-samples';
import type { VersionStore } from './version-store';
import type { WaitingRoom } from './waiting-room';

/** How often the waiting samples are looked at without a new arrival: a batch may fall due by time alone. */
const LOOK_MS = 1_000;
/** The same while the broker still has to bring what a dead trainer held. */
const SOON_MS = 50;

export interface BatchSourceParts {
  readonly config: TrainerConfig;
  readonly store: VersionStore;
  readonly room: WaitingRoom;
  readonly nats: Nats;
  readonly log: Log;
}

/** Decides which samples make the next step. The same stream gives the same batches, whenever the trainer was killed. */
export class BatchSource {
  /** A batch that a crash interrupted, and until when its messages are waited for. */
  private begun: { readonly batch: NextBatch; readonly until: number } | null = null;
  /** Until when a batch that is due waits for older samples that the broker has yet to bring. */
  private incompleteUntil: number | null = null;

  constructor(private readonly parts: BatchSourceParts) {}

  /** Takes up the batch that a step was begun with before a crash. */
  async pickUp(): Promise<void> {
    const { store, log } = this.parts;
    const batch = await store.nextBatch();
    this.begun = batch && { batch, until: this.patience() };
    if (batch) log.info('batch.rebuilding', { version: batch.version, turnIds: batch.turnIds });
    else await store.clearNextBatch();
  }

  /** The samples of the step that is due, or `null`. Stale ones are refused on the way. */
  async next(): Promise<readonly TrainingSample[] | null> {
    if (this.parts.config.METHOD === 'none') return null;
    if (this.begun) {
      const rebuilt = this.rebuilt(this.begun);
      if (rebuilt === 'wait') return null;
      this.begun = null;
      if (rebuilt) return rebuilt;
      await this.parts.store.clearNextBatch();
    }
    if (this.plan().batch === null) {
      this.incompleteUntil = null;
      return null;
    }
    const deliveries = await deliveredSamples(this.parts.nats);
    // More may have come meanwhile, older ones too: what is planned now is what the answer speaks of.
    const { batch } = this.plan();
    if (batch === null || this.mayGoOn(hasAllDelivered(this.parts.room.held(), deliveries))) return batch;
    return null;
  }

  /** Waits for a reason to ask for a batch again. */
  async change(signal: AbortSignal): Promise<void> {
    await this.parts.room.arrival(this.incompleteUntil === null ? LOOK_MS : SOON_MS, signal);
  }

  private rebuilt({ batch, until }: NonNullable<typeof this.begun>): readonly TrainingSample[] | 'wait' | null {
    const rebuilt = rebuiltBatch(this.parts.room.all(), batch);
    if (!rebuilt && Date.now() < until) return 'wait';
    if (!rebuilt) this.parts.log.error('batch.not-rebuilt', { turnIds: batch.turnIds });
    return rebuilt;
  }

  private plan(): BatchPlan {
    const { config, store, room } = this.parts;
    const { BATCH_SIZE: batchSize, BATCH_MIN: batchMin, MAX_STALENESS: maxStaleness } = config;
    const rule = { batchSize, batchMin, maxStaleness, maxWaitMs: 1000 * config.BATCH_MAX_WAIT_SECONDS };
    const plan = planBatch(room.all(), store.servedVersion, rule, Date.now());
    for (const { sample, refusal } of plan.refused) room.refused(sample.turnId, refusal);
    return plan;
  }

  private mayGoOn(isComplete: boolean): boolean {
    this.incompleteUntil ??= this.patience();
    const isLate = Date.now() >= this.incompleteUntil;
    if (!isComplete && !isLate) return false;
    if (!isComplete) this.parts.log.error('batch.incomplete', { waiting: this.parts.room.size });
    this.incompleteUntil = null;
    return true;
  }

  private patience(): number {
    return Date.now() + 1000 * this.parts.config.REBUILD_SECONDS;
  }
}
