import { setTimeout as sleep } from 'node:timers/promises';
import type { Sample } from '@hindcast/contracts';
import { Bus, CONFIG, Log, Metrics, Nats, type MessageContext } from '@hindcast/platform';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { hyperparametersOf, type TrainerConfig } from './config';
import { planBatch, rebuiltBatch, type NextBatch } from './core/batch-plan';
import type { Hyperparameters } from './core/hyperparameters';
import { unpublished, type Manifest } from './core/manifest';
import type { PolicyModel } from './core/policy-model';
import { timingMetrics } from './core/step-metrics';
import { stepRecord } from './core/step-record';
import { trainStep } from './core/train-step';
import { decodeSample, refusalOf, type Refusal, type TrainingSample } from './core/training-sample';
import { StepReporter } from './metrics/step-reporter';
import { PolicyBoard } from './policy-board';
import type { Publication } from './publication';
import { publishingOf } from './publishing';
import type { VersionStore } from './version-store';
import { WaitingRoom } from './waiting-room';
import { assemble, type Workshop } from './workshop';

/** How often the waiting samples are looked at without a new arrival: a batch may fall due by time alone. */
const LOOK_MS = 1_000;
const RETRY_MS = 2_000;

/**
 * The trainer's loop: wait for a batch, take one step, commit it, acknowledge, publish, again. One thing at a time; the handlers
 * only wait.
 */
@Injectable()
export class Trainer implements OnApplicationShutdown {
  private readonly room = new WaitingRoom();
  private readonly stop = new AbortController();
  private readonly hyper: Hyperparameters;
  private workshop!: Workshop;
  private publication!: Publication;
  private reporter!: StepReporter;
  private running: Promise<unknown> = Promise.resolve();
  /** A batch that a crash interrupted, and until when its messages are waited for. */
  private begun: { readonly batch: NextBatch; readonly until: number } | null = null;
  private readonly refusedTotal;
  private readonly failuresTotal;

  constructor(
    @Inject(CONFIG) private readonly config: TrainerConfig,
    private readonly nats: Nats,
    private readonly bus: Bus,
    private readonly board: PolicyBoard,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    this.hyper = hyperparametersOf(config);
    metrics.gauge('trainer_waiting_samples', 'Samples that wait for a step', [], (gauge) => gauge.set(this.room.size));
    this.refusedTotal = metrics.counter('trainer_samples_refused_total', 'Samples that no step used', ['reason']);
    this.failuresTotal = metrics.counter('trainer_failures_total', 'Work of the loop that failed and was tried again', [
      'step',
    ]);
  }

  /** Takes the policy's folder, loads backend and model, and starts the loop. */
  async start(): Promise<void> {
    this.workshop = await assemble(this.config, this.hyper);
    const { backend, unavailable } = this.workshop;
    this.log.info('backend', { backend: backend.name, unavailable, threads: this.config.THREADS });
    const { nats, bus, board, log, metrics } = this;
    const services = { nats, bus, board, log, metrics, shutdown: this.stop.signal };
    this.publication = publishingOf(this.config, this.workshop, services);
    const { TENSORBOARD_DIR: folder } = this.config;
    const tensorboardDir = folder === 'off' ? null : folder;
    this.reporter = await StepReporter.open({ store: this.workshop.store, tensorboardDir, metrics, log });
    this.running = Promise.all([this.run(), this.reconcileForEver()]);
  }

  /** Holds one sample until it is trained or refused, and announces a refusal. */
  async train(turnId: string, tenant: string, body: Sample, context: MessageContext): Promise<void> {
    const { store, limits } = this.workshop;
    if (store.trainedIn(turnId) !== null) return;
    const sample = decodeSample(turnId, tenant, context.streamSequence, body);
    const unfit = refusalOf(sample, limits);
    if (unfit) return await this.announceRefusal(sample, unfit);
    const outcome = await this.room.outcomeOf(sample, Date.now());
    if (outcome.kind === 'refused') await this.announceRefusal(sample, outcome.refusal);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.running.catch(() => undefined);
    await this.workshop?.close();
  }

  private async run(): Promise<void> {
    await this.untilDone('start', () => this.pickUp());
    for (;;) {
      const batch = await this.untilDone('batch', () => this.nextBatch());
      if (!batch) {
        await this.room.arrival(LOOK_MS, this.stop.signal);
        continue;
      }
      const manifest = await this.untilDone('step', () => this.step(batch));
      if (manifest) await this.publication.publish(manifest);
      await this.untilDone('clean-up', () => this.workshop.store.cleanUp(this.config.KEEP_VERSIONS));
    }
  }

  /** Completes what a crash left: the board, publications, announcements, and a batch that was begun. */
  private async pickUp(): Promise<void> {
    const { store } = this.workshop;
    const batch = await store.nextBatch();
    this.begun = batch && { batch, until: Date.now() + 1000 * this.config.REBUILD_SECONDS };
    if (batch) this.log.info('batch.rebuilding', { version: batch.version, turnIds: batch.turnIds });
    else await store.clearNextBatch();
    await this.connected();
    await this.publication.reconcile();
    for (const manifest of unpublished(store.all())) await this.publication.publish(manifest);
    await this.publication.announceAll();
    await this.publication.reconcile();
  }

  /** The samples of the step that is due, or `null`. Stale ones are refused on the way. */
  private async nextBatch(): Promise<readonly TrainingSample[] | null> {
    if (this.config.METHOD === 'none') return null;
    const { store } = this.workshop;
    if (this.begun) {
      const rebuilt = rebuiltBatch(this.room.all(), this.begun.batch);
      if (!rebuilt && Date.now() < this.begun.until) return null;
      if (!rebuilt) this.log.error('batch.not-rebuilt', { turnIds: this.begun.batch.turnIds });
      this.begun = null;
      if (rebuilt) return rebuilt;
      await store.clearNextBatch();
    }
    const { BATCH_SIZE: batchSize, BATCH_MIN: batchMin, MAX_STALENESS: maxStaleness } = this.config;
    const rule = { batchSize, batchMin, maxStaleness, maxWaitMs: 1000 * this.config.BATCH_MAX_WAIT_SECONDS };
    const { refused, batch } = planBatch(this.room.all(), store.servedVersion, rule, Date.now());
    for (const { sample, refusal } of refused) this.room.refused(sample.turnId, refusal);
    return batch;
  }

  /** One step, committed; its messages may then be acknowledged. `null` when it was refused. */
  private async step(batch: readonly TrainingSample[]): Promise<Manifest | null> {
    const { store, model, probes } = this.workshop;
    const turnIds = batch.map((sample) => sample.turnId);
    const trainedIn = store.trainedIn(turnIds[0]!);
    const manifest = trainedIn === null ? await this.commit(batch, turnIds, store, model) : store.get(trainedIn);
    await store.clearNextBatch();
    if (!manifest) return null;
    await probes.collect(batch.map(({ promptIds }) => promptIds));
    this.room.trained(turnIds);
    return manifest;
  }

  private async commit(
    batch: readonly TrainingSample[],
    turnIds: string[],
    store: VersionStore,
    model: PolicyModel,
  ): Promise<Manifest | null> {
    const version = store.nextVersion;
    const parent = store.servedVersion;
    await store.writeNextBatch({ v: 1, version, turnIds });
    const startedAt = performance.now();
    const result = await trainStep(model, batch, await store.stateOf(parent), this.hyper, parent);
    if (!result.ok) {
      const refusal: Refusal = { reason: 'non-finite', detail: `the step of version ${version} was not finite` };
      this.log.error('step.not-finite', { version, turnIds: result.culprits.map((sample) => sample.turnId) });
      for (const sample of result.culprits) this.room.refused(sample.turnId, refusal);
      return null;
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const metrics = { ...result.metrics, ...timingMetrics(result.metrics, seconds) };
    const manifest = await store.commit(
      {
        version,
        parent,
        at: Date.now(),
        turnIds,
        hyperparameters: { ...this.hyper },
        metrics,
        progress: result.state.progress,
      },
      result.state,
      stepRecord(version, batch, result),
    );
    this.log.info('step.committed', { version, parent, metrics });
    await this.reporter.committed(manifest);
    return manifest;
  }

  private async announceRefusal(sample: TrainingSample, refusal: Refusal): Promise<void> {
    const { turnId, tenant } = sample;
    const body = { ...refusal, policyVersion: this.workshop.store.servedVersion };
    await this.bus.publish('sampleRefused', { turnId, tenant, body });
    this.refusedTotal.inc({ reason: refusal.reason });
    this.log.warn('sample.refused', { reason: refusal.reason, detail: refusal.detail });
  }

  /** Engines come and go, and the broker may lose its store: what should be there is put back. */
  private async reconcileForEver(): Promise<void> {
    const { signal } = this.stop;
    for (;;) {
      try {
        await this.connected();
        await this.writeSettings();
        await this.publication.reconcile();
      } catch (error) {
        if (!signal.aborted) this.log.warn('reconcile.failed', { error });
      }
      await sleep(this.config.RECONCILE_MS, undefined, { signal });
    }
  }

  private async connected(): Promise<void> {
    if (this.nats.connected) return;
    await Promise.race([this.nats.whenConnected(), aborted(this.stop.signal)]);
    this.stop.signal.throwIfAborted();
  }

  private async writeSettings(): Promise<void> {
    const { BATCH_SIZE: batchSize, BATCH_MIN: batchMin, METHOD: method } = this.config;
    await this.board.writeSettings({ batchSize, batchMin, method, backend: this.workshop.backend.name });
  }

  /** Repeats work that may fail for reasons outside (a full disk, a broker that is away) until it is done or the service stops. */
  private async untilDone<T>(name: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      this.stop.signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        this.stop.signal.throwIfAborted();
        this.failuresTotal.inc({ step: name });
        this.log.error('trainer.failed', { step: name, error });
        await sleep(RETRY_MS, undefined, { signal: this.stop.signal });
      }
    }
  }
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}
