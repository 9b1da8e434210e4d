import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DependencyUnavailable, HindcastError, type Sample, type TraceContext } from '@hindcast/contracts';
import { Bus, Log, Metrics } from '@hindcast/platform';
import { decideRecording, recordingOf, type RecordingTexts } from './core/recording';
import { Database, type Statement } from './database';
import { LedgerWriter } from './ledger-writer';
import { Loop } from './loop';
import { readTrace } from './trace-text';

/** A sample whose decision is stored. */
export interface DecidedSample {
  readonly turnId: string;
  readonly tenant: string;
  readonly sample: Sample;
  /** Of the decision. */
  readonly trace: TraceContext | null;
}

/** What was not sent at once is found this often. */
const SWEEP_MS = 1_000;
/** Younger entries are in the hands of the dispatcher that decided them. */
const OWNED_MS = 5_000;
const BATCH = 64;
/** Samples published at once; what is beyond it is left to the sweep. */
const MAX_FLIGHT = 1_024;

interface Entry extends Partial<RecordingTexts> {
  readonly turnId: string;
  readonly tenant: string;
  readonly body: Uint8Array | null;
  readonly trace: string | null;
}

const UNSENT: Statement = {
  name: 'unsent-samples',
  text: `SELECT "turnId", outbox.tenant, body, outbox.trace, judged, feedback, circumstances, capture
    FROM outbox LEFT JOIN recordings USING ("turnId")
    WHERE "sentAt" IS NULL AND "createdAt" <= $1 ORDER BY outbox.seq LIMIT $2`,
};

/**
 * Publishes `sample.ready` for every decision that made a sample, until the broker has confirmed it. The entry was stored with the decision,
 * so none is lost; after a crash one may be published twice, under the same message id.
 *
 * A sample that was just decided is sent from memory. What that left, after an outage or a crash, the sweep sends: from the entry, or from
 * the turn's recording, which gives the same sample to the bit.
 */
@Injectable()
export class Outbox implements OnModuleDestroy {
  private readonly loop: Loop;
  private readonly inFlight = new Set<string>();
  private isFirstSweep = true;
  private readonly published;

  constructor(
    private readonly database: Database,
    private readonly writer: LedgerWriter,
    private readonly bus: Bus,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.published = metrics.counter('samples_published_total', 'Samples that the broker confirmed');
    this.loop = new Loop(SWEEP_MS, () => this.sweep());
  }

  start(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  push(decided: DecidedSample): void {
    if (this.inFlight.size < MAX_FLIGHT) void this.send(decided, (made) => this.publishMade(made));
  }

  private publishMade({ turnId, tenant, sample, trace }: DecidedSample): Promise<void> {
    return this.bus.publishMade('sampleReady', { turnId, tenant, body: sample, trace });
  }

  private publish({ turnId, tenant, sample, trace }: DecidedSample): Promise<void> {
    return this.bus.publish('sampleReady', { turnId, tenant, body: sample, trace });
  }

  private async sweep(): Promise<void> {
    try {
      // At its start a dispatcher sends what it left itself, however young.
      const before = new Date(Date.now() - (this.isFirstSweep ? 0 : OWNED_MS));
      const entries = await this.database.sql<Entry>(UNSENT, [before, BATCH]);
      this.isFirstSweep = false;
      const sent = await Promise.all(entries.map((entry) => this.sendEntry(entry)));
      if (entries.length === BATCH && sent.some(Boolean)) this.loop.wake();
    } catch (error) {
      this.log.warn('outbox.waiting', { error });
    }
  }

  private async sendEntry(entry: Entry): Promise<boolean> {
    const { turnId, tenant } = entry;
    if (this.inFlight.has(turnId)) return false;
    const sample = sampleOf(entry);
    const trace = readTrace(entry.trace);
    if (sample !== null) return this.send({ turnId, tenant, sample, trace }, (again) => this.publish(again));
    this.log.error('outbox.no-recording', { turnId });
    await this.refuse(turnId, tenant, 'unpublishable:no-recording');
    return true;
  }

  /** False: the broker is away, the entry stays. */
  private async send(decided: DecidedSample, publish: (sample: DecidedSample) => Promise<void>): Promise<boolean> {
    const { turnId, tenant } = decided;
    this.inFlight.add(turnId);
    try {
      await publish(decided);
      this.writer.markSent([turnId]);
      this.published.inc();
      return true;
    } catch (error) {
      if (error instanceof DependencyUnavailable) return false;
      // It will never be published; the turn says so instead of waiting for ever.
      const reason = `unpublishable:${error instanceof HindcastError ? error.code : 'internal'}`;
      this.log.error('sample.unpublishable', { turnId, error });
      return await this.refuse(turnId, tenant, reason);
    } finally {
      this.inFlight.delete(turnId);
    }
  }

  private async refuse(turnId: string, tenant: string, reason: string): Promise<boolean> {
    const ended = [{ turnId, state: 'refused', refusedReason: reason } as const];
    try {
      await this.writer.write({ turnId, tenant, event: { kind: 'refused', reason }, rows: { ended } });
      return true;
    } catch (error) {
      this.log.warn('outbox.waiting', { error });
      return false;
    }
  }
}

/** The entry's sample; `null` when neither it nor a recording holds one. */
function sampleOf({ turnId, body, judged, feedback = null, circumstances, capture = null }: Entry): Sample | null {
  if (body !== null) return JSON.parse(new TextDecoder().decode(body)) as Sample;
  if (judged == null || circumstances == null) return null;
  return decideRecording(recordingOf({ turnId, judged, feedback, circumstances, capture })).sample;
}
