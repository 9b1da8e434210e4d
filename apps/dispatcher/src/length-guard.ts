import { Inject, Injectable } from '@nestjs/common';
import { lengthRewardCorrelation, type LengthSample } from '@hindcast/advantage';
import { CONFIG, Log, Metrics } from '@hindcast/platform';
import type { DispatcherConfig } from './config';

/** Samples that the correlation is over: the newest of this dispatcher. */
const WINDOW = 200;
/** It is counted again after so many new ones. */
const EVERY = 10;

/** Says when longer answers are rewarded more, or less: a policy learns the length then. */
@Injectable()
export class LengthGuard {
  private readonly samples: LengthSample[] = [];
  private observed = 0;
  private isAlarming = false;
  private readonly correlation;
  private readonly alarms;

  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    metrics: Metrics,
    private readonly log: Log,
  ) {
    this.correlation = metrics.gauge('length_reward_correlation', 'Pearson r of answer length and reward');
    // No number before there is one: 0 would say that there is no correlation.
    this.correlation.remove();
    this.alarms = metrics.counter('length_reward_alarms_total', 'Times that the correlation rose above its limit');
  }

  /** A sample was decided. One without a reward says nothing of the judge. */
  observe(sample: LengthSample): void {
    const limit = this.config.GUARD_LENGTH_CORRELATION;
    if (limit === 0 || sample.reward === 0) return;
    this.samples.push(sample);
    if (this.samples.length > WINDOW) this.samples.shift();
    if (++this.observed % EVERY !== 0) return;
    const { r, n } = lengthRewardCorrelation(this.samples);
    if (r === null) return;
    this.correlation.set(r);
    this.alarm(Math.abs(r) > limit, { r, n, limit });
  }

  private alarm(isAbove: boolean, numbers: { r: number; n: number; limit: number }): void {
    if (isAbove && !this.isAlarming) {
      this.log.warn('guard.length-correlation', numbers);
      this.alarms.inc();
    }
    this.isAlarming = isAbove;
  }
}
