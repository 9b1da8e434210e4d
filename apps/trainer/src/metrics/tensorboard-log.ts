import { appendFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { restartRecord, stepRecord, versionRecord } from '../core/event-file';
import { histogramOf } from '../core/event-file-histogram';
import { shownAfter } from '../core/event-file-reading';
import { ownMetrics } from '../core/step-metrics-table';
import type { MetricSink, ReportedStep } from './metric-sink';

const EVENT_FILE = /^events\.out\.tfevents\.(\d+)\./;

/**
 * A folder of TensorBoard events: the step is the version, the time is that of its commit. Each run of the trainer, and each new attempt
 * after a failure, writes a file of its own, whose name sorts after all others, from its first step on.
 */
export class TensorBoardLog implements MetricSink {
  readonly name = 'tensorboard';
  private file: string | null = null;

  constructor(private readonly folder: string) {}

  async catchUp(steps: readonly ReportedStep[]): Promise<void> {
    this.file = null;
    await mkdir(this.folder, { recursive: true });
    let shown: ReadonlySet<number> = new Set();
    for (const name of await this.eventFiles()) shown = shownAfter(await readFile(join(this.folder, name)), shown);
    // Readers bear no step that comes late: with the first that is missing, those after it are written again.
    const first = steps.findIndex(({ version }) => !shown.has(version));
    if (first >= 0) await this.write(steps.slice(first));
  }

  async report(step: ReportedStep): Promise<void> {
    await this.write([step]);
  }

  private async write(steps: readonly ReportedStep[]): Promise<void> {
    const records: Uint8Array[] = [];
    const path = this.file ?? (await this.nextFile(steps[0]!));
    if (path !== this.file) {
      const [{ at, version }] = [steps[0]!];
      records.push(versionRecord(at / 1000), restartRecord(at / 1000, version));
    }
    for (const step of steps) records.push(await recordOf(step));
    await appendFile(path, Buffer.concat(records));
    this.file = path;
  }

  private async nextFile({ at }: ReportedStep): Promise<string> {
    const newest = Math.max(0, ...(await this.eventFiles()).map(secondsOf));
    const seconds = Math.max(Math.floor(at / 1000), newest + 1);
    return join(this.folder, `events.out.tfevents.${String(seconds).padStart(10, '0')}.${hostname()}.${process.pid}`);
  }

  /** In the order in which TensorBoard reads them. */
  private async eventFiles(): Promise<string[]> {
    return (await readdir(this.folder)).filter((name) => EVENT_FILE.test(name)).sort();
  }
}

async function recordOf(step: ReportedStep): Promise<Uint8Array> {
  const advantages = histogramOf((await step.advantages()) ?? []);
  return stepRecord({
    wallTime: step.at / 1000,
    step: step.version,
    scalars: ownMetrics(step.metrics),
    histograms: advantages ? [['advantage', advantages]] : [],
  });
}

const secondsOf = (name: string): number => Number(EVENT_FILE.exec(name)![1]);
