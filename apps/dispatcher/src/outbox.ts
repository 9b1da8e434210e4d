import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DependencyUnavailable, HindcastError, type Sample } from '@hindcast/contracts';
import { Bus, Log, Metrics } from '@hindcast/platform';
import { Database } from './database';
import { Ledger } from './ledger';

/** Samples published at once. */
const BATCH = 32;
/** What another dispatcher left unsent is found this often. */
const SWEEP_MS = 1_000;

interface Entry {
  readonly turnId: string;
  readonly tenant: string;
  readonly body: Uint8Array | null;
}

/**
 * Publishes `sample.ready` for every decision that made a sample, until the broker has confirmed it. The entry was stored with the decision,
 * so none is lost; after a crash one may be published twice, under the same message id.
 */
@Injectable()
export class Outbox implements OnModuleDestroy {
  private wakeUp: () => void = () => undefined;
  private awake = false;
  private closed = false;
  private running: Promise<void> | null = null;

  constructor(
    private readonly database: Database,
    private readonly ledger: Ledger,
    private readonly bus: Bus,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  start(): void {
    this.running ??= this.loop();
  }

  /** There is something to send. */
  wake(): void {
    this.awake = true;
    this.wakeUp();
  }

  async onModuleDestroy(): Promise<void> {
    this.closed = true;
    this.wakeUp();
    await this.running;
  }

  private async loop(): Promise<void> {
    while (!this.closed) {
      this.awake = false;
      let sent = 0;
      try {
        sent = await this.sendBatch();
      } catch (error) {
        this.log.warn('outbox.waiting', { error });
      }
      if (sent === 0 && !this.awake) await this.sleep();
    }
  }

  /** Sends the oldest entries and returns how many were settled. */
  private async sendBatch(): Promise<number> {
    const entries = await this.database.run((prisma) =>
      prisma.outboxEntry.findMany({
        where: { sentAt: null, body: { not: null } },
        orderBy: { seq: 'asc' },
        take: BATCH,
        select: { turnId: true, tenant: true, body: true },
      }),
    );
    const sent = await Promise.all(entries.map((entry) => this.send(entry)));
    const turnIds = entries.filter((_, index) => sent[index]).map((entry) => entry.turnId);
    if (turnIds.length === 0) return 0;
    await this.database.run((prisma) =>
      prisma.outboxEntry.updateMany({ where: { turnId: { in: turnIds } }, data: { sentAt: new Date() } }),
    );
    this.metrics.counter('samples_published_total', 'Samples that the broker confirmed').inc(turnIds.length);
    return turnIds.length;
  }

  /** False: the broker is away, the entry stays. */
  private async send({ turnId, tenant, body }: Entry): Promise<boolean> {
    try {
      await this.bus.publish('sampleReady', { turnId, tenant, body: JSON.parse(new TextDecoder().decode(body!)) as Sample });
      return true;
    } catch (error) {
      if (error instanceof DependencyUnavailable) return false;
      // It will never be published; the turn says so instead of waiting for ever.
      const reason = `unpublishable:${error instanceof HindcastError ? error.code : 'internal'}`;
      this.log.error('sample.unpublishable', { turnId, error });
      const ended = [{ turnId, state: 'refused', refusedReason: reason } as const];
      await this.ledger.record({ turnId, tenant, event: { kind: 'refused', reason }, rows: { ended } });
      return true;
    }
  }

  private async sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, SWEEP_MS);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.closed || this.awake) this.wakeUp();
    });
    this.wakeUp = () => undefined;
  }
}
