import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, Metrics } from '@hindcast/platform';
import type { Manifest } from '../core/manifest';
import type { StepRecord } from '../core/step-record';
import type { VersionStore } from '../version-store';
import type { MetricSink, ReportedStep } from './metric-sink';
import { MetricsFile } from './metrics-file';
import { StepGauges } from './step-gauges';
import { TensorBoardLog } from './tensorboard-log';

export interface StepReporterParts {
  readonly store: Pick<VersionStore, 'folder' | 'all' | 'folderOf'>;
  /** Folder of the TensorBoard events; `null` for none. */
  readonly tensorboardDir: string | null;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Shows the numbers of committed steps wherever they are looked at. What cannot be written is warned of once and counted, and made up for
 * from the manifests with the next step: no step waits for it or fails by it.
 */
export class StepReporter {
  private readonly sinks: readonly MetricSink[];
  /** Sinks that do not have all steps. */
  private readonly behind = new Set<MetricSink>();
  private readonly failures;

  private constructor(private readonly parts: StepReporterParts) {
    const { store, tensorboardDir, metrics } = parts;
    this.sinks = [
      new StepGauges(metrics),
      new MetricsFile(join(store.folder, 'metrics.jsonl')),
      ...(tensorboardDir === null ? [] : [new TensorBoardLog(tensorboardDir)]),
    ];
    this.failures = metrics.counter('trainer_metric_sink_failures_total', 'Steps that could not be written down', [
      'sink',
    ]);
    for (const { name } of this.sinks) this.failures.inc({ sink: name }, 0);
  }

  /** Writes what an earlier run left unwritten. Never rejects. */
  static async open(parts: StepReporterParts): Promise<StepReporter> {
    const reporter = new StepReporter(parts);
    for (const sink of reporter.sinks) await reporter.attempt(sink, () => sink.catchUp(reporter.steps()));
    return reporter;
  }

  /** Shows a version that was just committed. Never rejects. */
  async committed(manifest: Manifest): Promise<void> {
    for (const sink of this.sinks) {
      await this.attempt(sink, () =>
        this.behind.has(sink) ? sink.catchUp(this.steps()) : sink.report(this.stepOf(manifest)),
      );
    }
  }

  private async attempt(sink: MetricSink, work: () => Promise<void>): Promise<void> {
    const wasBehind = this.behind.has(sink);
    try {
      await work();
      this.behind.delete(sink);
      if (wasBehind) this.parts.log.info('metrics.written-again', { sink: sink.name });
    } catch (error) {
      this.behind.add(sink);
      this.failures.inc({ sink: sink.name });
      if (!wasBehind) this.parts.log.warn('metrics.unwritten', { sink: sink.name, error });
    }
  }

  private steps(): ReportedStep[] {
    return this.parts.store.all().map((manifest) => this.stepOf(manifest));
  }

  private stepOf({ version, parent, at, metrics }: Manifest): ReportedStep {
    return { version, parent, at, metrics, advantages: () => this.advantagesOf(version) };
  }

  private async advantagesOf(version: number): Promise<readonly ArrayLike<number>[] | null> {
    try {
      const record = JSON.parse(
        await readFile(join(this.parts.store.folderOf(version), 'step.json'), 'utf8'),
      ) as StepRecord;
      return record.samples.map(({ advantages }) => advantages);
    } catch {
      return null;
    }
  }
}
