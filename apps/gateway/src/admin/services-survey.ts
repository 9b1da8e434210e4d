import { Injectable } from '@nestjs/common';
import { DependencyUnavailable, type ServiceReport } from '@hindcast/contracts';
import { Bus } from '@hindcast/platform';

/** A service whose dependencies hang takes a second to say so. */
const WAIT_MS = 1_200;

interface Heard {
  readonly reports: readonly ServiceReport[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What the services say of themselves; one survey at a time, however many ask. */
@Injectable()
export class ServicesSurvey {
  private last: Heard | null = null;
  private asking: Promise<readonly ServiceReport[]> | null = null;

  constructor(private readonly bus: Bus) {}

  /**
   * One report for each process on the bus; none while NATS is away.
   *
   * @param maxAgeMs what was heard so long ago will do
   */
  async reports(maxAgeMs: number): Promise<readonly ServiceReport[]> {
    if (this.last && Date.now() - this.last.at < maxAgeMs) return this.last.reports;
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return this.asking;
  }

  private async ask(): Promise<readonly ServiceReport[]> {
    try {
      const reports = await this.bus.gather('services', {}, WAIT_MS);
      this.last = { reports, at: Date.now() };
      return reports;
    } catch (error) {
      this.last = null;
      if (error instanceof DependencyUnavailable) return [];
      throw error;
    }
  }
}
