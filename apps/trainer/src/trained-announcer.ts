import { join } from 'node:path';
import { ContractViolation, HindcastError } from '@hindcast/contracts';
import { writeAtomically } from '@hindcast/language-model';
import { crashPoint, type Bus, type Log } from '@hindcast/platform';
import { z } from 'zod';
import { TrainedRecord, trainedSamples, type TrainedTurn } from './core/trained-samples';
import { readJsonIfPresent } from './durable-file';
import { STEP, TRAINED_SAMPLES } from './policy-folder';
import type { VersionStore } from './version-store';

/** Messages under way at once. */
const AT_ONCE = 64;

const Announced = z.strictObject({ v: z.literal(1), upTo: z.int().nonnegative() });

export interface TrainedAnnouncerParts {
  readonly store: VersionStore;
  readonly bus: Pick<Bus, 'publish'>;
  readonly log: Log;
}

/**
 * Tells the ledger what each committed step made of its samples, from the version's `step.json`. Up to which version that is done stands in
 * `POLICY_DIR/trained-samples.json`, written after the broker has the messages: what a crash left out is said at the next start, and may
 * be said twice.
 */
export class TrainedAnnouncer {
  private upTo: number | null = null;

  constructor(private readonly parts: TrainedAnnouncerParts) {}

  /**
   * Announces every version that was not yet, oldest first.
   *
   * @throws DependencyUnavailable while NATS is away
   */
  async catchUp(): Promise<void> {
    const { store } = this.parts;
    this.upTo ??= await this.read();
    for (const { version } of store.all()) {
      if (version <= this.upTo) continue;
      await this.announce(version);
      await writeAtomically(this.path, JSON.stringify({ v: 1, upTo: version }));
      this.upTo = version;
    }
  }

  private async announce(version: number): Promise<void> {
    const turns = await this.turnsOf(version);
    for (let at = 0; at < turns.length; at += AT_ONCE)
      await Promise.all(turns.slice(at, at + AT_ONCE).map((turn) => this.publish(turn)));
    if (turns.length > 0) crashPoint('after-trained');
  }

  private async publish({ turnId, tenant, body }: TrainedTurn): Promise<void> {
    try {
      await this.parts.bus.publish('sampleTrained', { turnId, tenant, body });
    } catch (error) {
      if (!(error instanceof ContractViolation)) throw error;
      // It will not fit at the next attempt either, and says only what step.json has as well.
      this.parts.log.error('trained.not-announced', { turnId, version: body.version, error });
    }
  }

  /** None of a version that was made by an older release, or whose record is gone or damaged: nothing else depends on that. */
  private async turnsOf(version: number): Promise<TrainedTurn[]> {
    const { store, log } = this.parts;
    try {
      const record = await readJsonIfPresent(join(store.folderOf(version), STEP), TrainedRecord);
      return record ? trainedSamples(record) : [];
    } catch (error) {
      if (!(error instanceof HindcastError || error instanceof RangeError)) throw error;
      log.warn('trained.unreadable', { version, error });
      return [];
    }
  }

  private async read(): Promise<number> {
    const wayOut = 'Remove it: what every step made of its samples is then announced again.';
    return (await readJsonIfPresent(this.path, Announced, wayOut))?.upTo ?? 0;
  }

  private get path(): string {
    return join(this.parts.store.folder, TRAINED_SAMPLES);
  }
}
