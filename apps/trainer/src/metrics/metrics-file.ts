import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomically } from '@hindcast/language-model';
import { completedLines, stepLine } from '../core/step-metrics-lines';
import { readIfPresent } from '../durable-file';
import type { MetricSink, ReportedStep } from './metric-sink';

/** `metrics.jsonl`: one line per committed step, appended by one write. The manifests are what it is completed from. */
export class MetricsFile implements MetricSink {
  readonly name = 'jsonl';

  constructor(private readonly path: string) {}

  async catchUp(steps: readonly ReportedStep[]): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const text = (await readIfPresent(this.path)) ?? '';
    const completed = completedLines(text, steps);
    if (completed === text) return;
    // Whoever follows the file keeps it open; it is replaced only where something in it has to go.
    if (completed.startsWith(text)) await appendFile(this.path, completed.slice(text.length));
    else await writeAtomically(this.path, completed);
  }

  async report(step: ReportedStep): Promise<void> {
    await appendFile(this.path, stepLine(step));
  }
}
