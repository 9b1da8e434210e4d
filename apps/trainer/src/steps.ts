import { HindcastError } from '@hindcast/contracts';
import type { Log, WorkerSlots } from '@hindcast/platform';
import type { Hyperparameters } from './core/hyperparameters';
import type { Manifest } from './core/manifest';
import { newLogProbs } from './core/new-log-probs';
import type { PolicyModel } from './core/policy-model';
import { timingMetrics } from './core/step-metrics';
import { stepRecord } from './core/step-record';
import { trainStep, type StepResult, type TrainingState } from './core/train-step';
import type { Refusal, TrainingSample } from './core/training-sample';
import type { StepReporter } from './metrics/step-reporter';
import type { ProbeSet } from './probe-set';
import type { Retries } from './retries';
import type { VersionStore } from './version-store';
import type { WaitingRoom } from './waiting-room';

export interface StepsParts {
  readonly store: VersionStore;
  readonly model: PolicyModel;
  readonly probes: ProbeSet;
  readonly hyper: Hyperparameters;
  /** Whether the record of a step has the log-probs under the weights that it made. */
  readonly recordsNewLogProbs: boolean;
  /** The samples with the teacher's top-K; `null` where the loss has no such term. */
  readonly withTopK: ((batch: readonly TrainingSample[]) => Promise<readonly TrainingSample[]>) | null;
  readonly room: WaitingRoom;
  readonly reporter: StepReporter;
  readonly retries: Retries;
  /** One slot, shared with rollbacks: what serves does not change while a version is committed. */
  readonly serving: WorkerSlots;
  /** Puts an undamaged version into service. */
  readonly leaveDamaged: () => Promise<void>;
  readonly log: Log;
}

interface Computed {
  readonly version: number;
  readonly parent: number;
  readonly seconds: number;
  readonly result: StepResult;
  /** log π_θ after the step; `null` for a sample that has none. */
  readonly newLogProbs: readonly (Float32Array | null)[];
}

/** Takes steps: computes one, commits it as a version, and lets go of its samples. */
export class Steps {
  constructor(private readonly parts: StepsParts) {}

  /** One step, committed; its messages may then be acknowledged. `null` when it was refused. */
  async take(batch: readonly TrainingSample[]): Promise<Manifest | null> {
    const { store, probes, room, retries } = this.parts;
    const turnIds = batch.map((sample) => sample.turnId);
    const trainedIn = store.trainedIn(turnIds[0]!);
    const manifest = trainedIn === null ? await this.made(batch) : store.get(trainedIn);
    await retries.untilDone('step', async () => {
      await store.clearNextBatch();
      if (manifest) await probes.collect(batch.map(({ promptIds }) => promptIds));
    });
    if (manifest) room.trained(turnIds);
    return manifest;
  }

  /**
   * What the step came to is kept while the disk is full. When another version was put into service meanwhile, the step is taken again
   * from that one.
   */
  private async made(batch: readonly TrainingSample[]): Promise<Manifest | null> {
    const { retries, log } = this.parts;
    for (;;) {
      const step = await retries.untilDone('step', () => this.compute(batch));
      if (!step.result.ok) return this.refuse(step.version, step.result.culprits);
      const manifest = await retries.untilDone('checkpoint', () => this.commit(batch, step));
      if (manifest) return manifest;
      log.warn('step.repeated', { version: step.version, parent: step.parent });
    }
  }

  private async compute(batch: readonly TrainingSample[]): Promise<Computed> {
    const { store, model, hyper, withTopK } = this.parts;
    const version = store.nextVersion;
    const parent = store.servedVersion;
    await store.assertRoom();
    await store.writeNextBatch({ v: 1, version, turnIds: batch.map((sample) => sample.turnId) });
    const samples = withTopK ? await withTopK(batch) : batch;
    const startedAt = performance.now();
    const result = await trainStep(model, samples, await this.stateOf(parent), hyper, parent);
    const seconds = (performance.now() - startedAt) / 1000;
    return { version, parent, result, seconds, newLogProbs: await this.newLogProbs(version, samples, result) };
  }

  /** For who looks at a step afterwards: nothing that goes wrong here says anything against it. */
  private async newLogProbs(
    version: number,
    samples: readonly TrainingSample[],
    result: StepResult,
  ): Promise<readonly (Float32Array | null)[]> {
    const { model, recordsNewLogProbs, log } = this.parts;
    if (!result.ok || !recordsNewLogProbs) return [];
    try {
      const found = await newLogProbs(model, samples, result.state.weights);
      const turnIds = samples.filter((_, i) => found[i] === null).map(({ turnId }) => turnId);
      if (turnIds.length > 0) log.warn('step.new-log-probs-not-finite', { version, turnIds });
      return found;
    } catch (error) {
      log.warn('step.new-log-probs-missing', { version, error });
      return [];
    }
  }

  private async stateOf(version: number): Promise<TrainingState> {
    try {
      return await this.parts.store.stateOf(version);
    } catch (error) {
      if (error instanceof HindcastError && error.code === 'policy-damaged') await this.parts.leaveDamaged();
      throw error;
    }
  }

  /** `null` when the step no longer follows what serves. */
  private async commit(batch: readonly TrainingSample[], step: Computed): Promise<Manifest | null> {
    const { store, hyper, serving, reporter, log } = this.parts;
    const { version, parent, result, seconds, newLogProbs } = step;
    if (!result.ok) throw new TypeError('a step that was refused has nothing to commit');
    const metrics = { ...result.metrics, ...timingMetrics(result.metrics, seconds) };
    const turnIds = batch.map((sample) => sample.turnId);
    const manifest = await serving.run(async () => {
      // In place already when only what came after it failed.
      const trainedIn = store.trainedIn(turnIds[0]!);
      if (trainedIn !== null) return store.get(trainedIn);
      if (store.servedVersion !== parent || store.nextVersion !== version) return null;
      return await store.commit(
        {
          version,
          parent,
          at: Date.now(),
          turnIds,
          hyperparameters: { ...hyper },
          metrics,
          progress: result.state.progress,
        },
        result.state,
        stepRecord(version, batch, result, newLogProbs, hyper.loss.clip),
      );
    });
    if (!manifest) return null;
    log.info('step.committed', { version, parent, metrics });
    await reporter.committed(manifest);
    return manifest;
  }

  private refuse(version: number, culprits: readonly TrainingSample[]): null {
    const { room, log } = this.parts;
    const refusal: Refusal = { reason: 'non-finite', detail: `the step of version ${version} was not finite` };
    log.error('step.not-finite', { version, turnIds: culprits.map((sample) => sample.turnId) });
    for (const sample of culprits) room.refused(sample.turnId, refusal);
    return null;
  }
}
