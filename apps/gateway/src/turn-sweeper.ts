import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, Log, Nats } from '@hindcast/platform';
import type { LastForMsgRequest, NextMsgRequest } from '@nats-io/jetstream';
import { AnnouncedTurns } from './announced-turns';
import type { GatewayConfig } from './config';
import type { OpenTurn } from './core/open-turn';
import { KvAccess } from './kv-access';
import { isOutage } from './outage';
import { TurnBook } from './turn-book';

const STREAM = 'KV_open-turns';
const TICK_MS = 1_000;
/** A record that did not change for so long is no longer being worked on by the gateway that wrote it. */
const SETTLED_MS = 5_000;

/**
 * Finishes what a gateway that died left undone, and closes what nobody continued: publishes endings as they were written,
 * announces captures without an event, drops records without a capture, expires the rest. Every gateway sweeps; all steps may be
 * done twice.
 *
 * It walks the bucket by sequence, so each revision of a record is looked at once, when it has settled.
 */
@Injectable()
export class TurnSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private cursor = 1;
  /** Keys by the time at which a turn under them expires, in the order of the walk: nearly that of the times. */
  private expiries: { readonly key: string; readonly at: number }[] = [];
  private readonly disowned = new Map<string, { readonly key: string; readonly turn: OpenTurn }>();
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> | null = null;
  private readonly ttlMs: number;
  private readonly settledMs: number;

  constructor(
    @Inject(CONFIG) config: GatewayConfig,
    private readonly access: KvAccess,
    private readonly book: TurnBook,
    private readonly announcedTurns: AnnouncedTurns,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {
    this.ttlMs = config.OPEN_TURN_TTL_SECONDS * 1000;
    this.settledMs = Math.min(SETTLED_MS, this.ttlMs);
    nats.onConnected(() => {
      // A server that came back may have another store, whose sequence starts anew.
      this.cursor = 1;
      this.expiries = [];
      this.book.revisions.clear();
      return Promise.resolve();
    });
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.sweep(), TICK_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.sweeping;
  }

  /** The turn was counted as uncaptured: whatever of it reached NATS is removed. */
  disown(key: string, turn: OpenTurn): void {
    this.disowned.set(turn.turnId, { key, turn });
  }

  private sweep(): Promise<void> {
    this.sweeping ??= this.sweepOnce()
      .catch((error: unknown) => this.log.warn('sweep.failed', { error }))
      .finally(() => (this.sweeping = null));
    return this.sweeping;
  }

  private async sweepOnce(): Promise<void> {
    if (!this.nats.connected) return;
    for (const [turnId, { key, turn }] of this.disowned) {
      await this.book.forget(key, turn);
      this.disowned.delete(turnId);
    }
    await this.walk();
    await this.expire();
  }

  private async walk(): Promise<void> {
    await this.access.kv('openTurns');
    const manager = await this.access.manager();
    for (;;) {
      if (!(await this.inspectOwn())) return;
      const next: NextMsgRequest = { seq: this.cursor, next_by_subj: this.book.turns.subjects };
      // The server takes this form for a plain read as well; the client's type names it for direct reads only.
      const message = await manager.streams.getMessage(STREAM, next as unknown as LastForMsgRequest);
      if (!message || message.time.getTime() > Date.now() - this.settledMs) return;
      if (message.data.length > 0)
        await this.goOn(message.subject, () =>
          this.inspect(message.subject.slice(message.subject.lastIndexOf('.') + 1), message.json<OpenTurn[]>()),
        );
      this.cursor = message.seq + 1;
      this.book.revisions.forgetBefore(this.cursor);
    }
  }

  /**
   * Looks at what this gateway wrote itself, as far as it goes without a gap.
   *
   * @returns `false` at a revision that has not settled yet
   */
  private async inspectOwn(): Promise<boolean> {
    const { revisions } = this.book;
    for (;;) {
      const own = revisions.at(this.cursor);
      if (own === undefined) return true;
      if (own !== 'replaced') {
        if (own.at > Date.now() - this.settledMs) return false;
        await this.inspect(own.key, own.items);
      }
      revisions.forgetBefore(++this.cursor);
    }
  }

  private async inspect(key: string, turns: readonly OpenTurn[]): Promise<void> {
    for (const turn of turns) {
      await this.goOn(turn.turnId, () => this.finish(key, turn));
      this.expiries.push({ key, at: turn.openedAt + this.ttlMs });
    }
  }

  private async finish(key: string, turn: OpenTurn): Promise<void> {
    if (turn.ending) await this.book.finish(key, turn);
    else if (!(await this.announcedTurns.isAnnounced(turn))) {
      if (await this.book.capture(turn.turnId)) await this.book.announce(key, turn);
      else await this.book.forget(key, turn);
    }
  }

  /** What NATS can never take stays as it is, and holds up nothing else. */
  private async goOn(id: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isOutage(error)) throw error;
      this.log.error('sweep.refused', { id, error });
    }
  }

  private async expire(): Promise<void> {
    const now = Date.now();
    const { expiries } = this;
    const later = expiries.findIndex(({ at }) => at > now);
    const due = expiries.slice(0, later < 0 ? expiries.length : later);
    if (due.length === 0) return;
    for (const key of new Set(due.map((expiry) => expiry.key))) {
      const isDue = (turn: OpenTurn): boolean => turn.ending === null && turn.openedAt + this.ttlMs <= now;
      const end = (): Promise<OpenTurn | null> =>
        this.book.end(
          key,
          (turns) => turns.find(isDue) ?? null,
          () => ({
            kind: 'closed',
            at: now,
            by: 'sweep',
            body: { reason: 'expired', detail: null },
          }),
        );
      await this.goOn(key, async () => {
        while (await end());
      });
    }
    // Unless the walk began anew meanwhile.
    if (this.expiries === expiries) expiries.splice(0, due.length);
  }
}
