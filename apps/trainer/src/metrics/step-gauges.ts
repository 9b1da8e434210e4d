import type { Metrics } from '@hindcast/platform';
import { ownMetrics, STEP_METRICS, stepMetricOf, type StepMetric } from '../core/step-metrics-table';
import type { MetricSink, ReportedStep } from './metric-sink';

const CASES = ['opdRl', 'opd', 'rl'] as const;
const DURATION_BUCKETS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000];

/** The newest step as Prometheus gauges, and what all steps of this process add up to. A number that the step does not have is not exposed. */
export class StepGauges implements MetricSink {
  readonly name = 'prometheus';
  private readonly steps;
  private readonly samples;
  private readonly tokens;
  private readonly duration;
  private readonly lastStep;

  constructor(private readonly metrics: Metrics) {
    this.steps = metrics.counter('trainer_steps_total', 'Steps committed');
    this.samples = metrics.counter('trainer_samples_trained_total', 'Samples of committed steps', ['case']);
    this.tokens = metrics.counter('trainer_tokens_trained_total', 'Prompt and response tokens of committed steps');
    this.duration = metrics.histogram(
      'trainer_step_duration_seconds',
      'Duration of committed steps',
      [],
      DURATION_BUCKETS,
    );
    this.lastStep = metrics.gauge(
      'trainer_last_step_timestamp_seconds',
      'When the newest step was committed, seconds since the epoch',
    );
    for (const name of CASES) this.samples.inc({ case: name }, 0);
    this.show(null);
  }

  async catchUp(steps: readonly ReportedStep[]): Promise<void> {
    this.show(steps.at(-1) ?? null);
  }

  async report(step: ReportedStep): Promise<void> {
    const { metrics } = step;
    this.show(step);
    this.steps.inc();
    for (const name of CASES) this.samples.inc({ case: name }, metrics[`samples/${name}`] ?? 0);
    this.tokens.inc(metrics['tokens'] ?? 0);
    if (metrics['step_seconds'] !== undefined) this.duration.observe(metrics['step_seconds']);
  }

  private show(step: Pick<ReportedStep, 'at' | 'metrics'> | null): void {
    if (step === null) this.lastStep.remove();
    else this.lastStep.set(step.at / 1000);
    for (const entry of Object.values<StepMetric>(STEP_METRICS)) {
      const gauge = this.gaugeOf(entry);
      // Without labels a gauge that is reset is 0, which would say that the step had that number.
      if (entry.labels) gauge.reset();
      else gauge.remove();
    }
    for (const [name, value] of ownMetrics(step?.metrics ?? {})) {
      const entry = stepMetricOf(name)!;
      this.gaugeOf(entry).set(entry.labels ?? {}, value);
    }
  }

  private gaugeOf({ gauge, help, labels = {} }: StepMetric) {
    return this.metrics.gauge(gauge, `${help}, of the newest step`, Object.keys(labels));
  }
}
