import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { decodeCapture, type Capture } from '@hindcast/contracts';
import { Bus, Log, Nats, crashPoint } from '@hindcast/platform';
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
import type { Operation } from './core/operation';
import { GatewayMetrics } from './gateway-metrics';
import { KvAccess } from './kv-access';
import { OwnRevisions } from './own-revisions';
import { StoredLists } from './stored-lists';

/** How long what follows an answer is gathered. */
const GATHER_MS = 25;
/** Bytes that NATS adds to a value: subject and headers. */
const MESSAGE_OVERHEAD_BYTES = 1024;

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
    private readonly nats: Nats,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {
    this.turns = new StoredLists(access, 'turn', this.revisions);
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
    const { turnId, tenant, ending } = turn;
    if (!ending) return;
    if (!turn.announced) await this.bus.publish('turnCaptured', { turnId, tenant, body: turn.captured });
    if (ending.kind === 'paired') await this.bus.publish('turnPaired', { turnId, tenant, body: ending.body });
    else await this.bus.publish('turnClosed', { turnId, tenant, body: ending.body });
    await this.closeSiblings(turn, ending);
    await this.turns.change(key, (turns) => withoutTurn(turns, turnId));
    if (turn.sessionId)
      await this.sessions.change(turn.sessionId, (turns) => turns.filter((known) => known.turnId !== turnId));
    this.metrics.ended(ending);
    this.log.info(`turn.${ending.kind}`, {
      turnId,
      sessionId: turn.sessionId,
      reason: ending.kind === 'closed' ? ending.body.reason : null,
    });
  }

  /** Publishes that a turn was captured and marks its record. */
  async announce(key: string, turn: OpenTurn): Promise<void> {
    await this.bus.publish('turnCaptured', { turnId: turn.turnId, tenant: turn.tenant, body: turn.captured });
    await this.turns.change(key, (turns) => withAnnounced(turns, turn.turnId));
  }

  /** Drops a record whose capture was never stored, and a capture that was given up. */
  async forget(key: string, turn: OpenTurn): Promise<void> {
    await this.turns.change(key, (turns) => withoutTurn(turns, turn.turnId));
    await (await this.access.kv('captures')).purge(turn.turnId);
  }

  /** Waits for what follows in the background. */
  async settle(): Promise<void> {
    while (this.followUps.size > 0) await Promise.all(this.followUps);
  }

  /** Whether the server takes a capture of so many bytes; a spooled one may meet a server that takes less. */
  fits(captureBytes: number): boolean {
    return captureBytes <= this.nats.maxPayload - MESSAGE_OVERHEAD_BYTES;
  }

  /**
   * Returns once the turn is safe; what only needs to happen some time follows in the background.
   *
   * @param withdrawn no further step is begun, see TurnOperations
   */
  async open(
    { key, turn, inSession }: Extract<Operation, { kind: 'open' }>,
    capture: Uint8Array,
    now: number,
    withdrawn?: AbortSignal,
  ): Promise<void> {
    if (!this.fits(capture.length)) {
      const captured = { ...turn.captured, untrainable: 'too-large' as const };
      return this.bus.publish('turnCaptured', { turnId: turn.turnId, tenant: turn.tenant, body: captured });
    }
    await this.turns.change(key, (turns) => (withdrawn?.aborted ? turns : withTurn(turns, turn)), true);
    if (withdrawn?.aborted) return;
    let earlier: readonly SessionTurn[] = [];
    const join = async (sessionId: string, own: SessionTurn): Promise<void> => {
      const isOther = ({ turnId }: TurnAddress): boolean =>
        turnId !== own.turnId && !turn.siblings?.some((sibling) => sibling.turnId === turnId);
      await this.sessions.change(sessionId, (turns) => {
        earlier = turns.filter((known) => known.attempt === own.attempt && isOther(known));
        return turns.some((known) => known.turnId === own.turnId) ? turns : [...turns, own];
      });
    };
    const put = (): Promise<number> => this.access.put('captures', turn.turnId, capture);
    await Promise.all([put(), turn.sessionId && inSession && join(turn.sessionId, inSession)]);
    crashPoint('after-capture-put');
    this.follow(async () => {
      await this.nextGathering();
      await this.announce(key, turn);
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
