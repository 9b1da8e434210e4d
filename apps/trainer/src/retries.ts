import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError } from '@hindcast/contracts';
import type { Log, Metrics } from '@hindcast/platform';

const RETRY_MS = 2_000;

/** Work that may fail for reasons outside: a full disk, a broker that is away, an engine that is down. */
export class Retries {
  private readonly failures;

  constructor(
    private readonly log: Log,
    metrics: Metrics,
    private readonly signal: AbortSignal,
  ) {
    this.failures = metrics.counter('trainer_failures_total', 'Work of the loop that failed and was tried again', [
      'step',
      'code',
    ]);
  }

  /** Repeats it until it is done or the service stops. */
  async untilDone<T>(name: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      this.signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        this.signal.throwIfAborted();
        const code = error instanceof HindcastError ? error.code : 'internal';
        this.failures.inc({ step: name, code });
        this.log.error('trainer.failed', { step: name, error });
        await sleep(RETRY_MS, undefined, { signal: this.signal });
      }
    }
  }
}
