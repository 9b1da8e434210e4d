import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, Metrics } from '@hindcast/platform';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { EngineConfig } from './config';
import type { Scheduler } from './scheduler';

const LABELS = ['model_name', 'engine'] as const;
const SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];

/** The numbers that vLLM gives at `/metrics`, under vLLM's names, so that its dashboards and autoscalers work here too. */
@Injectable()
export class EngineMetrics {
  private readonly labels: { model_name: string; engine: string };
  private readonly registers;
  private readonly promptTokens;
  private readonly generatedTokens;
  private readonly succeeded;
  private readonly timeToFirstToken;
  private readonly timePerToken;
  private readonly endToEnd;

  constructor(
    private readonly metrics: Metrics,
    @Inject(CONFIG) config: EngineConfig,
  ) {
    this.labels = { model_name: config.SERVED_MODEL_NAME, engine: '0' };
    this.registers = [metrics.registry];
    const counter = (name: string, help: string) =>
      new Counter({ name: `vllm:${name}`, help, labelNames: LABELS, registers: this.registers });
    const histogram = (name: string, help: string) =>
      new Histogram({ name: `vllm:${name}`, help, labelNames: LABELS, buckets: SECONDS, registers: this.registers });
    this.promptTokens = counter('prompt_tokens_total', 'Number of prefill tokens processed.');
    this.generatedTokens = counter('generation_tokens_total', 'Number of generation tokens processed.');
    this.succeeded = new Counter({
      name: 'vllm:request_success_total',
      help: 'Count of successfully processed requests.',
      labelNames: [...LABELS, 'finished_reason'] as const,
      registers: this.registers,
    });
    this.timeToFirstToken = histogram('time_to_first_token_seconds', 'Time to first token in seconds.');
    this.timePerToken = histogram('time_per_output_token_seconds', 'Time per output token in seconds.');
    this.endToEnd = histogram('e2e_request_latency_seconds', 'Request latency in seconds.');
  }

  /** Gauges read at each scrape. */
  observeScheduler(scheduler: Scheduler): void {
    const { labels, registers } = this;
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name: `vllm:${name}`,
        help,
        labelNames: LABELS,
        registers,
        collect() {
          this.set(labels, value());
        },
      });
    gauge('num_requests_running', 'Number of requests in execution batches.', () => scheduler.runningCount);
    gauge('num_requests_waiting', 'Number of requests waiting to be processed.', () => scheduler.waitingCount);
    this.metrics.gauge('engine_cached_positions', 'Positions of the key/value cache in use.', [], (own) =>
      own.set(scheduler.cachedPositions),
    );
  }

  /** Follows one choice: call `token` for each token and `finish` at its end. */
  startRequest(promptTokens: number): { token(): void; finish(reason: string): void } {
    const started = performance.now();
    let last: number | null = null;
    return {
      token: () => {
        const now = performance.now();
        if (last === null) {
          this.promptTokens.inc(this.labels, promptTokens);
          this.timeToFirstToken.observe(this.labels, (now - started) / 1000);
        } else this.timePerToken.observe(this.labels, (now - last) / 1000);
        this.generatedTokens.inc(this.labels);
        last = now;
      },
      finish: (reason) => {
        if (last === null) this.promptTokens.inc(this.labels, promptTokens);
        this.succeeded.inc({ ...this.labels, finished_reason: reason });
        this.endToEnd.observe(this.labels, (performance.now() - started) / 1000);
      },
    };
  }
}
