import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Latest, Log, Nats } from '@hindcast/platform';
import type { OpenTurn } from './core/open-turn';
import { OpenedTurns, type Opening } from './core/opened-turns';
import { KvAccess } from './kv-access';

const WRITE_MS = 1_000;
/** How long what another gateway wrote is not read again. */
const FRESH_MS = 1_000;
/** Runs whose turns are remembered one by one; of older ones what was written counts. */
const REMEMBERED_RUNS = 16;

/** Runs of other gateways that are remembered. */
const OTHER_RUNS = 1_000;

const keyOf = (gateway: string): string => `announced.${gateway}`;

/**
 * Which open turns are announced, in place of a mark in the record of each: a gateway numbers the turns that it opens, and writes down
 * every second up to which of them all are. What it had no time to write down is announced once more, which is harmless.
 */
@Injectable()
export class AnnouncedTurns implements OnApplicationBootstrap, OnModuleDestroy {
  private own = new OpenedTurns(randomUUID());
  private readonly runs = new Map<string, OpenedTurns>([[this.own.gateway, this.own]]);
  private readonly written = new Map<string, number>();
  private readonly others = new Latest<string, { readonly upTo: number; readonly readAt: number }>(OTHER_RUNS);
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> | null = null;

  constructor(
    private readonly access: KvAccess,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {
    // Another store knows nothing of what was written.
    nats.onConnected(() => {
      this.written.clear();
      this.others.clear();
      return Promise.resolve();
    });
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.write(), WRITE_MS).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** A turn is about to be opened; until {@link announced} says otherwise it is not announced. */
  opening(): Opening {
    return this.own.next();
  }

  announced({ gateway, number }: Opening): void {
    this.runs.get(gateway)?.announced(number);
  }

  /** It may never be announced by this gateway: those that follow are not to wait for it. */
  failed({ gateway, number }: Opening): void {
    if (gateway !== this.own.gateway || this.own.isAnnounced(number)) return;
    this.own = new OpenedTurns(randomUUID());
    this.runs.set(this.own.gateway, this.own);
    if (this.runs.size <= REMEMBERED_RUNS) return;
    const [oldest] = this.runs.keys();
    this.runs.delete(oldest!);
    this.written.delete(oldest!);
  }

  /**
   * Whether `turn.captured` is known to be on the bus. `false` may be wrong, `true` never is.
   *
   * @throws DependencyUnavailable or a NATS error when nobody can say
   */
  async isAnnounced({ announced, opening }: OpenTurn): Promise<boolean> {
    if (announced || !opening) return announced;
    const { gateway, number } = opening;
    return this.runs.get(gateway)?.isAnnounced(number) ?? number <= (await this.upTo(gateway, number));
  }

  /** Writes down how far this gateway has come; what cannot be written is written the next time. Never throws. */
  write(): Promise<void> {
    this.writing ??= this.writeAll()
      .catch((error: unknown) => this.log.warn('announced.not-written', { error }))
      .finally(() => (this.writing = null));
    return this.writing;
  }

  /** As {@link write}, with all that is announced by now: a write that is under way may have begun before. */
  async writeLast(): Promise<void> {
    await this.writing;
    await this.write();
  }

  private async writeAll(): Promise<void> {
    if (!this.nats.connected) return;
    for (const [gateway, { announcedUpTo }] of this.runs) {
      if (announcedUpTo === (this.written.get(gateway) ?? 0)) continue;
      await this.access.whileConnected(this.access.put('sessionMemory', keyOf(gateway), String(announcedUpTo)));
      this.written.set(gateway, announcedUpTo);
    }
  }

  private async upTo(gateway: string, number: number): Promise<number> {
    const known = this.others.get(gateway);
    if (known && (number <= known.upTo || known.readAt > Date.now() - FRESH_MS)) return known.upTo;
    const readAt = Date.now();
    const kv = await this.access.kv('sessionMemory');
    const entry = await this.access.whileConnected(kv.get(keyOf(gateway)));
    const upTo = entry?.operation === 'PUT' ? Number(entry.string()) : 0;
    this.others.set(gateway, { upTo, readAt });
    return upTo;
  }
}
