import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ContractViolation, decodeCapture, type Capture, type ClosedTurn } from '@hindcast/contracts';
import { Bus, Log, crashPoint, endWith, type Span } from '@hindcast/platform';
import { AnnouncedTurns } from './announced-turns';
import { boundsOf, bytesOf, crowdedOut, newestWithin } from './core/list-bounds';
import {
  supersededBy,
  withAnnounced,
  withEndings,
  withTurn,
  withoutTurn,
  type Ending,
  type OpenTurn,
  type SessionTurn,
  type TurnAddress,
} from './core/open-turn';
import type { Opening } from './core/opened-turns';
import type { Operation } from './core/operation';
import { endingSpan } from './ending-span';
import { GatewayMetrics } from './gateway-metrics';
import { KvAccess } from './kv-access';
import { isOutage } from './outage';
import { OwnRevisions } from './own-revisions';
import { StoredLists } from './stored-lists';
import type { Withdrawal } from './turn-operations';

/** How long what follows an answer is gathered. */
const GATHER_MS = 25;

const REFUSED: ClosedTurn = { reason: 'failed', detail: 'its pair is none that the bus takes' };

/**
 * The open turns that all gateways share. A record is written before its capture, goes
 * `open → ending → gone` by compare-and-set, and says itself what is still to be published: whoever finds it can finish it.
 */
@Injectable()
export class TurnBook {
  readonly turns: StoredLists<OpenTurn>;
  /** Of open-turn records; the sweep need not read back what this gateway wrote itself. */
  readonly revisions = new OwnRevisions<OpenTurn>();
  readonly sessions: StoredLists<SessionTurn>;
  private readonly followUps = new Set<Promise<void>>();
  private gathering: Promise<void> | null = null;

  constructor(
    private readonly access: KvAccess,
    private readonly bus: Bus,
    private readonly announcedTurns: AnnouncedTurns,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {
    this.turns = new StoredLists(access, 'turn', this.revisions, ({ ending }) => ending !== null);
    this.sessions = new StoredLists(access, 'session');
  }

  /** Opens the buckets. */
  async prepare(): Promise<void> {
    await Promise.all([this.access.kv('openTurns'), this.access.kv('captures'), this.access.kv('feedback')]);
  }

  async capture(turnId: string): Promise<Capture | null> {
    const entry = await (await this.access.kv('captures')).get(turnId);
    return entry?.operation === 'PUT' ? decodeCapture(entry.value) : null;
  }

  /**
   * Ends one turn of a key: claims it by compare-and-set, publishes the ending, removes the record.
   *
   * @returns the turn, or `null` when there was none to end
   */
  async end(
    key: string,
    choose: (turns: readonly OpenTurn[]) => OpenTurn | null,
    ending: (turn: OpenTurn) => Ending,
  ): Promise<OpenTurn | null> {
    let claimed: OpenTurn | null = null;
    await this.turns.change(key, (turns) => {
      const chosen = choose(turns);
      claimed = chosen && chosen.ending === null ? { ...chosen, ending: ending(chosen) } : null;
      return claimed ? withEndings(turns, claimed, claimed.ending!) : turns;
    });
    if (!claimed) return null;
    crashPoint('after-claim');
    await this.finish(key, claimed);
    return claimed;
  }

  /** Publishes the ending that a record holds and removes the record. */
  async finish(key: string, turn: OpenTurn): Promise<void> {
    const { ending } = turn;
    if (!ending) return;
    const span = endingSpan(turn, ending);
    await endWith(span, this.finishAs(ending, key, turn, span));
  }

  private async finishAs(ending: Ending, key: string, turn: OpenTurn, span: Span): Promise<void> {
    const { turnId } = turn;
    if (!(await this.announcedTurns.isAnnounced(turn))) await this.publishCaptured(turn);
    const published = await this.publishEnding(turn, ending, span);
    await this.closeSiblings(turn, ending);
    let isRemoved = false;
    await this.turns.change(key, (turns) => {
      const left = withoutTurn(turns, turnId);
      isRemoved = left.length < turns.length;
      return left;
    });
    if (turn.sessionId)
      await this.sessions.change(turn.sessionId, (turns) => turns.filter((known) => known.turnId !== turnId));
    // Several may finish one turn, as a sweep beside the gateway that claimed it. One of them removes it.
    if (!isRemoved) return;
    this.metrics.ended(published);
    this.log.info(`turn.${published.kind}`, {
      turnId,
      sessionId: turn.sessionId,
      reason: published.kind === 'closed' ? published.body.reason : null,
    });
  }

  /** @returns the ending that is on the bus: of a pair that the bus can never take, that the turn failed */
  private async publishEnding(
    { turnId, tenant }: Pick<OpenTurn, 'turnId' | 'tenant'>,
    ending: Ending,
    trace: Span,
  ): Promise<Ending> {
    if (ending.kind === 'paired') {
      try {
        await this.bus.publish('turnPaired', { turnId, tenant, body: ending.body, trace });
        return ending;
      } catch (error) {
        if (isOutage(error)) throw error;
        this.log.error('turn.pair-refused', { turnId, error });
        return this.publishEnding({ turnId, tenant }, { ...ending, kind: 'closed', body: REFUSED }, trace);
      }
    }
    await this.bus.publish('turnClosed', { turnId, tenant, body: ending.body, trace });
    return ending;
  }

  private publishCaptured({ turnId, tenant, captured, trace }: OpenTurn): Promise<void> {
    return this.bus.publish('turnCaptured', { turnId, tenant, body: captured, trace: trace ?? null });
  }

  /** Publishes that a turn was captured and marks its record, for all who do not know it of the gateway that opened it. */
  async announce(key: string, turn: OpenTurn): Promise<void> {
    await this.publishCaptured(turn);
    await this.turns.change(key, (turns) => withAnnounced(turns, turn.turnId));
  }

  /** As {@link announce}, for a turn that this gateway opened itself: its number says it to all others. */
  private async publishFirst(turn: OpenTurn, opening: Opening): Promise<void> {
    try {
      await this.publishCaptured(turn);
      this.announcedTurns.announced(opening);
    } catch (error) {
      this.announcedTurns.failed(opening);
      throw error;
    }
  }

  /** Drops a record whose capture was never stored, and a capture that was given up. */
  async forget(key: string, turn: OpenTurn): Promise<void> {
    await this.turns.change(key, (turns) => withoutTurn(turns, turn.turnId));
    await (await this.access.kv('captures')).purge(turn.turnId);
  }

  /** Waits for what follows in the background. */
  async settle(): Promise<void> {
    while (this.followUps.size > 0) await Promise.all(this.followUps);
    await this.announcedTurns.writeLast();
  }

  /** Whether the server takes a capture of so many bytes; a spooled one may meet a server that takes less. */
  fits(captureBytes: number): boolean {
    return captureBytes <= this.access.maxValueBytes;
  }

  /**
   * Returns once the turn is safe; what only needs to happen some time follows in the background.
   *
   * @param withdrawn no further step is begun, see TurnOperations
   */
  async open(
    operation: Extract<Operation, { kind: 'open' }>,
    capture: Uint8Array,
    now: number,
    withdrawn?: Readonly<Withdrawal>,
  ): Promise<void> {
    const { turn } = operation;
    if (!this.fits(capture.length))
      return this.publishCaptured({ ...turn, captured: { ...turn.captured, untrainable: 'too-large' } });
    const opening = this.announcedTurns.opening();
    try {
      await this.openAs({ ...operation, turn: { ...turn, opening } }, opening, capture, now, withdrawn);
    } catch (error) {
      this.announcedTurns.failed(opening);
      throw error;
    }
  }

  private async openAs(
    { key, turn, inSession }: Extract<Operation, { kind: 'open' }>,
    opening: Opening,
    capture: Uint8Array,
    now: number,
    withdrawn?: Readonly<Withdrawal>,
  ): Promise<void> {
    const bounds = boundsOf(this.access.maxValueBytes);
    if (bytesOf(turn) > bounds.bytes) {
      // Nothing of it is anywhere.
      this.announcedTurns.announced(opening);
      throw new ContractViolation('KV openTurns', `a turn of ${bytesOf(turn)} bytes, of ${bounds.bytes} in all`);
    }
    let crowded: readonly OpenTurn[] = [];
    await this.turns.change(
      key,
      (turns) => {
        crowded = [];
        if (withdrawn?.isWithdrawn) return turns;
        const opened = crowdedOut(withTurn(turns, turn), bounds, now);
        crowded = opened.filter((other) => !turns.includes(other) && other.turnId !== turn.turnId);
        return opened;
      },
      true,
    );
    // Another replica's sweep would find them later; this one's follow-ups are what makes room.
    if (crowded.length > 0)
      this.follow(async () => void (await Promise.all(crowded.map((other) => this.finish(key, other)))));
    if (withdrawn?.isWithdrawn) return this.announcedTurns.failed(opening);
    let earlier: readonly SessionTurn[] = [];
    const join = async (sessionId: string, own: SessionTurn): Promise<void> => {
      const isOther = ({ turnId }: TurnAddress): boolean =>
        turnId !== own.turnId && !turn.siblings?.some((sibling) => sibling.turnId === turnId);
      await this.sessions.change(sessionId, (turns) => {
        earlier = turns.filter((known) => known.attempt === own.attempt && isOther(known));
        if (turns.some((known) => known.turnId === own.turnId)) return turns;
        // Superseded from now on, not from when they are closed: an edited history means none of them. One that is forgotten, or
        // is not closed, stays open under its key and expires.
        return newestWithin([...turns.filter((known) => !earlier.includes(known)), own], bounds);
      });
    };
    const put = (): Promise<number> => this.access.put('captures', turn.turnId, capture);
    await Promise.all([put(), turn.sessionId && inSession && join(turn.sessionId, inSession)]);
    crashPoint('after-capture-put');
    this.follow(async () => {
      await this.nextGathering();
      await this.publishFirst(turn, opening);
      await this.closeAll(earlier, { reason: 'superseded', detail: `by ${turn.turnId}` }, turn.turnId, now);
    });
  }

  /** The other choices of a response, once this one was continued. */
  private async closeSiblings(turn: OpenTurn, ending: Ending): Promise<void> {
    const closed = supersededBy(turn, ending);
    if (closed) await Promise.all((turn.siblings ?? []).map((sibling) => this.closeSibling(sibling, closed)));
  }

  /** A sibling under the same key was given this ending with the claim; it still has to be finished. */
  private async closeSibling({ key, turnId }: TurnAddress, closed: Ending): Promise<void> {
    let found: OpenTurn | null = null;
    await this.turns.change(key, (turns) => {
      const sibling = turns.find((known) => known.turnId === turnId && (known.ending?.by ?? closed.by) === closed.by);
      found = sibling ? { ...sibling, ending: closed } : null;
      return found ? withEndings(turns, found, closed) : turns;
    });
    if (found) await this.finish(key, found);
  }

  /** Closes those of the turns that are still open. */
  async closeAll(
    turns: readonly TurnAddress[],
    body: Extract<Ending, { kind: 'closed' }>['body'],
    by: string,
    now: number,
  ): Promise<void> {
    const close = ({ key, turnId }: TurnAddress): Promise<unknown> =>
      this.end(
        key,
        (open) => open.find((turn) => turn.turnId === turnId) ?? null,
        () => ({ kind: 'closed', at: now, by, body }),
      );
    await Promise.all(turns.map(close));
  }

  /** Many turns at once take the server and this process far less than each by itself, and nobody waits. */
  private nextGathering(): Promise<void> {
    this.gathering ??= sleep(GATHER_MS).then(() => void (this.gathering = null));
    return this.gathering;
  }

  /** What fails here is found and finished by a sweep. */
  private follow(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.log.warn('turn.follow-up-failed', { error }))
      .finally(() => this.followUps.delete(running));
    this.followUps.add(running);
  }
}
