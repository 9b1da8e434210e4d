import type { RunningService } from '@hindcast/platform';
import { startTrainer } from '../service';
import type { Bench } from './bench';
import { SHORT_TIMING } from './timing';

/** The trainers that a test starts on its bench, in this process. */
export class TestTrainers {
  private readonly running: RunningService[] = [];

  constructor(private readonly bench: Bench) {}

  async start(env: Record<string, string> = {}): Promise<RunningService> {
    const service = await startTrainer(this.bench.config(env), { timing: SHORT_TIMING, announce: () => undefined });
    this.running.push(service);
    return service;
  }

  /** Closes one before its test ends. */
  async close(service: RunningService): Promise<void> {
    this.running.splice(this.running.indexOf(service), 1);
    await service.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.running.splice(0).map((service) => service.close()));
  }
}
