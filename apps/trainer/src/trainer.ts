import { setTimeout as sleep } from 'node:timers/promises';
import type { Sample } from '@hindcast/contracts';
import { Bus, CONFIG, Log, Metrics, Nats, WorkerSlots, inSpan, type MessageContext } from '@hindcast/platform';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { BatchSource } from './batch-source';
import { BusRollbacks } from './bus-rollbacks';
import { hyperparametersOf, type TrainerConfig } from './config';
import type { Hyperparameters } from './core/hyperparameters';
import { unpublished } from './core/manifest';
import { weightsInUse } from './core/signal-weights';
import { decodeSample, refusalOf, type Refusal, type TrainingSample } from './core/training-sample';
import { exportDiskRoom } from './disk-gauges';
import { FileRollbacks } from './file-rollbacks';
import { StepReporter } from './metrics/step-reporter';
import { PolicyBoard } from './policy-board';
import type { Publication } from './publication';
import { publishingOf } from './publishing';
import { Retries } from './retries';
import { Rollbacks } from './rollbacks';
import { arrived, inStep } from './step-trace';
import { Steps } from './steps';
import { TopKStore } from './top-k-store';
import { TrainedAnnouncer } from './trained-announcer';
import { WaitingRoom } from './waiting-room';
import { assemble, type Workshop } from './workshop';

interface TrainerParts {
  readonly retries: Retries;
  readonly batches: BatchSource;
  readonly steps: Steps;
  readonly trained: TrainedAnnouncer;
  readonly rollbacks: Rollbacks;
  readonly publication: Publication;
}

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
  private parts!: TrainerParts;
  private running: Promise<unknown> = Promise.resolve();
  private readonly refusedTotal;

  constructor(
    @Inject(CONFIG) private readonly config: TrainerConfig,
    private readonly nats: Nats,
    private readonly bus: Bus,
    private readonly board: PolicyBoard,
    private readonly topK: TopKStore,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    this.hyper = hyperparametersOf(config);
    metrics.gauge('trainer_waiting_samples', 'Samples that wait for a step', [], (gauge) => gauge.set(this.room.size));
    metrics.gauge('trainer_batch_size_samples', 'Samples that a step waits for').set(config.BATCH_SIZE);
    this.refusedTotal = metrics.counter('trainer_samples_refused_total', 'Samples that no step used', ['reason']);
  }

  /** Takes the policy's folder, loads backend and model, and starts the loop. */
  async start(): Promise<void> {
    this.workshop = await assemble(this.config, this.hyper);
    const { backend, unavailable } = this.workshop;
    this.log.info('backend', { backend: backend.name, unavailable, threads: this.config.THREADS });
    const { nats, bus, board, log, metrics } = this;
    const services = { nats, bus, board, log, metrics, shutdown: this.stop.signal };
    const publication = publishingOf(this.config, this.workshop, services);
    const { TENSORBOARD_DIR: folder } = this.config;
    const tensorboardDir = folder === 'off' ? null : folder;
    const { store, model, probes, limits } = this.workshop;
    const { room, config, hyper } = this;
    const reporter = await StepReporter.open({ store, tensorboardDir, metrics, log });
    exportDiskRoom(metrics, store.folder);
    const retries = new Retries(log, metrics, this.stop.signal);
    const serving = new WorkerSlots(1);
    const { folder: policyDir } = store;
    const sources = [new FileRollbacks(policyDir, log), new BusRollbacks({ folder: policyDir, board, nats, log })];
    const rollbacks = new Rollbacks({ sources, store, publication, serving, log });
    const withTopK =
      hyper.loss.topKCoef === 0
        ? null
        : (batch: readonly TrainingSample[]) => this.topK.attachedTo(batch, limits.vocabSize);
    const leaveDamaged = (): Promise<void> => rollbacks.leaveDamaged();
    this.parts = {
      retries,
      publication,
      batches: new BatchSource({ config, store, room, nats, log }),
      steps: new Steps({
        ...{ store, model, probes, hyper, withTopK, room, reporter, retries, serving, leaveDamaged, log },
        recordsNewLogProbs: config.RECORD_NEW_LOG_PROBS,
      }),
      trained: new TrainedAnnouncer({ store, bus, log }),
      rollbacks,
    };
    this.running = this.work();
  }

  /** Holds one sample until it is trained or refused, and announces a refusal. */
  async train(turnId: string, tenant: string, body: Sample, context: MessageContext): Promise<void> {
    const { streamSequence } = context;
    await this.room.whileHeld(streamSequence, async () => {
      const { store, limits } = this.workshop;
      if (store.trainedIn(turnId) !== null) return;
      const sample = decodeSample(turnId, tenant, streamSequence, body);
      const unfit = refusalOf(sample, limits);
      if (unfit) return await this.announceRefusal(sample, unfit);
      const outcome = await this.room.outcomeOf({ ...sample, trace: arrived(sample) }, Date.now());
      if (outcome.kind === 'refused') await this.announceRefusal(sample, outcome.refusal);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.running.catch(() => undefined);
    await this.workshop?.close();
  }

  private async run(): Promise<void> {
    const { retries, batches, steps, publication } = this.parts;
    await retries.untilDone('start', () => this.pickUp());
    for (;;) {
      const batch = await retries.untilDone('batch', () => batches.next());
      if (!batch) {
        await batches.change(this.stop.signal);
        continue;
      }
      const { manifest, step } = await inStep(batch, () => steps.take(batch));
      if (manifest) await retries.untilDone('announcement', () => inSpan('announcement', {}, () => this.tell(), step));
      if (manifest) await inSpan('publication', {}, () => publication.publish(manifest), step);
      await retries.untilDone('clean-up', () => this.workshop.store.cleanUp(this.config.KEEP_VERSIONS));
    }
  }

  /** Completes what a crash left: rollbacks, the board, publications, announcements, and a batch that was begun. */
  private async pickUp(): Promise<void> {
    const { store } = this.workshop;
    const { batches, publication, trained } = this.parts;
    await batches.pickUp();
    await trained.catchUp();
    await publication.reconcile();
    for (const manifest of unpublished(store.all())) await publication.publish(manifest);
    await publication.announceAll();
    await publication.reconcile();
  }

  /** What a committed step made of its samples, and with which weights of the signals. */
  private async tell(): Promise<void> {
    await this.parts.trained.catchUp();
    await this.writeSettings();
  }

  private async announceRefusal(sample: TrainingSample, refusal: Refusal): Promise<void> {
    const { turnId, tenant } = sample;
    const body = { ...refusal, policyVersion: this.workshop.store.servedVersion };
    await this.bus.publish('sampleRefused', { turnId, tenant, body });
    this.refusedTotal.inc({ reason: refusal.reason });
    this.log.warn('sample.refused', { reason: refusal.reason, detail: refusal.detail });
  }

  /** What must be so before anything is published or trained: sound files, and the version that somebody asked for. */
  private async settleWhatServes(): Promise<void> {
    const { rollbacks } = this.parts;
    await this.connected();
    await rollbacks.leaveDamaged();
    await rollbacks.takeUp();
  }

  private async work(): Promise<void> {
    const { retries, rollbacks } = this.parts;
    await retries.untilDone('start', () => this.settleWhatServes());
    await Promise.all([this.run(), this.reconcileForEver(), rollbacks.watch(this.stop.signal)]);
  }

  /** Engines come and go, and the broker may lose its store: what should be there is put back. */
  private async reconcileForEver(): Promise<void> {
    const { signal } = this.stop;
    for (;;) {
      try {
        await this.connected();
        await this.writeSettings();
        await this.parts.publication.reconcile();
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
    const { store, backend } = this.workshop;
    const weights = weightsInUse(this.hyper, store.all().at(-1)?.metrics ?? null);
    const signals = { wRl: weights?.rl ?? null, wOpd: weights?.opd ?? null };
    const kept = await store.kept(this.config.KEEP_VERSIONS);
    await this.board.writeSettings({ batchSize, batchMin, method, backend: backend.name, ...signals, kept });
  }
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}
