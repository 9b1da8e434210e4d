import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { exportBuildInfo } from './build-info';

/** Prometheus metrics of this process. Every name gets the prefix `hindcast_`; asking twice gives the same metric. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly collectors = new Map<string, () => Promise<void>>();

  constructor(app: string) {
    this.registry.setDefaultLabels({ app });
    collectDefaultMetrics({ register: this.registry });
    exportBuildInfo(this.registry);
  }

  counter<L extends string = string>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
    return (
      this.known<Counter<L>>(name) ??
      new Counter({ name: prefixed(name), help, labelNames: labels, registers: [this.registry] })
    );
  }

  /** `collect` runs at each scrape and sets the gauge. */
  gauge<L extends string = string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L> {
    const known = this.known<Gauge<L>>(name);
    if (known) return known;
    return new Gauge({
      name: prefixed(name),
      help,
      labelNames: labels,
      registers: [this.registry],
      ...(collect && {
        collect(this: Gauge<L>) {
          return collect(this);
        },
      }),
    });
  }

  histogram<L extends string = string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    buckets?: readonly number[],
  ): Histogram<L> {
    return (
      this.known<Histogram<L>>(name) ??
      new Histogram({
        name: prefixed(name),
        help,
        labelNames: labels,
        registers: [this.registry],
        ...(buckets && { buckets: [...buckets] }),
      })
    );
  }

  /** Runs before each scrape; a second collector of the same name replaces the first. */
  onScrape(name: string, collect: () => Promise<void>): void {
    this.collectors.set(name, collect);
  }

  /** Prometheus text of all metrics. */
  async scrape(): Promise<string> {
    await Promise.all([...this.collectors.values()].map((collect) => collect()));
    return this.registry.metrics();
  }

  private known<M>(name: string): M | undefined {
    return this.registry.getSingleMetric(prefixed(name)) as M | undefined;
  }
}

const prefixed = (name: string): string => (name.startsWith('hindcast_') ? name : `hindcast_${name}`);
