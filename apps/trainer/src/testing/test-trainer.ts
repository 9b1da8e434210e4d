import type { RunningService } from '@hindcast/platform';
import { until } from '../../../../libs/platform/src/testing/until';
import { startTrainer } from '../service';
import type { Bench } from './bench';
import { SHORT_TIMING } from './timing';

/** A trainer in this process, on a bench whose batches have two samples. */
export class TestTrainer {
  private running: RunningService | null = null;

  constructor(private readonly bench: Bench) {}

  async start(env: Record<string, string> = {}): Promise<void> {
    this.running = await startTrainer(this.bench.config(env), { timing: SHORT_TIMING, announce: () => undefined });
  }

  async stop(): Promise<void> {
    await this.running?.close();
    this.running = null;
  }

  /** Takes steps, each from the version that serves, until this version does. */
  async trainTo(version: number): Promise<void> {
    for (let next = this.bench.manifests().length + 1; next <= version; next++) {
      const policyVersion = (await this.bench.board())?.version ?? 0;
      for (let n = 0; n < 2; n++) await this.bench.publish({ policyVersion });
      await this.bench.serves(next);
      await until(() => this.bench.manifests()[next - 1]?.state === 'published');
    }
  }
}
