import { Inject, Injectable } from '@nestjs/common';
import { Bus, CONFIG } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { asRemembered, toRemember } from './core/continuations';
import { editedTurn, pairedBody, turnToPair, type Ending, type OpenTurn, type SessionTurn } from './core/open-turn';
import type { Continuation, Operation } from './core/operation';
import { pairedAlone } from './core/paired-alone';
import { EarlyRequests } from './early-requests';
import { KvAccess } from './kv-access';
import { SessionMemory } from './session-memory';
import type { Outcome } from './spool-drain';
import { TurnBook } from './turn-book';

type Continuing = Extract<Operation, { kind: 'continue' }>;

/** What the clocks of two gateways may differ by. */
const CLOCK_SKEW_MS = 1_000;

/** Set by who no longer waits for an operation. A plain flag: an AbortSignal for each takes as long as a message to NATS. */
export interface Withdrawal {
  isWithdrawn: boolean;
}

/** How an operation is done that could not be done at first. */
export interface Repetition {
  readonly withdrawn: Withdrawal;
  /** When a request that says no time itself was written down: a turn that was opened later is not the one it means. */
  readonly at: number | null;
}

/** Does what the gateways write down about requests, on the records that they share. */
@Injectable()
export class TurnOperations {
  /** Requests that did not find the newest answer that they continue. */
  readonly early: EarlyRequests;

  constructor(
    private readonly book: TurnBook,
    private readonly bus: Bus,
    private readonly memory: SessionMemory,
    access: KvAccess,
    @Inject(CONFIG) config: Pick<GatewayConfig, 'OPEN_TURN_TTL_SECONDS'>,
  ) {
    this.early = new EarlyRequests(
      (operation, at) => access.whileConnected(this.continueAgain(operation, Date.now(), at)),
      config.OPEN_TURN_TTL_SECONDS * 1_000,
    );
  }

  /**
   * Returns once the operation is safe; what only needs to happen some time follows in the background. `early`: as `performAgain`.
   *
   * @param withdrawn the operation is no longer waited for and will be done again later: no further step is begun, or a turn
   *   that was opened, paired and removed in the meantime would be opened once more
   */
  async perform(
    operation: Operation,
    capture: Uint8Array | null,
    now: number,
    withdrawn?: Readonly<Withdrawal>,
  ): Promise<Outcome> {
    switch (operation.kind) {
      case 'open':
        await this.book.open(operation, capture!, now, withdrawn);
        return 'done';
      case 'announce': {
        const { turnId, tenant, captured, closed, trace = null } = operation;
        await this.bus.publish('turnCaptured', { turnId, tenant, body: captured, trace });
        if (closed) await this.bus.publish('turnClosed', { turnId, tenant, body: closed, trace });
        return 'done';
      }
      case 'continue':
        return (await this.continue(operation, now)) ? 'done' : 'early';
      case 'end-session': {
        const { sessionId, id, detail } = operation;
        const turns = await this.openTurnsOf(sessionId);
        await this.book.closeAll(turns, { reason: 'expired', detail }, id, now);
        return 'done';
      }
      case 'outcome':
        await this.outcome(operation, now);
        return 'done';
    }
  }

  /**
   * An operation that was tried before: what had been stored stays as it is.
   *
   * @returns `early` when a request does not find the newest answer that it continues
   */
  async performAgain(
    operation: Operation,
    capture: Uint8Array | null,
    now: number,
    { withdrawn, at }: Repetition,
  ): Promise<Outcome> {
    // The record is written before the capture: with the capture there, the turn was opened and may be gone by now.
    if (operation.kind === 'open' && (await this.book.capture(operation.turn.turnId))) {
      await this.book.announce(operation.key, operation.turn);
      return 'done';
    }
    if (operation.kind === 'continue') return this.continueAgain(operation, now, operation.at ?? at);
    return this.perform(operation, capture, now, withdrawn);
  }

  private async continueAgain(operation: Continuing, now: number, at: number | null): Promise<Outcome> {
    const isMeant = at === null ? undefined : ({ openedAt }: OpenTurn) => openedAt <= at + CLOCK_SKEW_MS;
    return (await this.continue(operation, now, isMeant)) ? 'done' : 'early';
  }

  /**
   * The turns of a session that are to be ended by no request. One that was opened late, by another gateway, is left to the request
   * that waits here to continue it; what is opened after the list was read is not in it.
   */
  private async openTurnsOf(sessionId: string): Promise<readonly SessionTurn[]> {
    const turns = await this.book.sessions.read(sessionId);
    await this.early.retrySession(sessionId);
    return turns;
  }

  /** What is still open is paired first, so that the session's last answer gets its reward too. */
  private async outcome(
    { id, tenant, at, outcome }: Extract<Operation, { kind: 'outcome' }>,
    now: number,
  ): Promise<void> {
    // One after the other: a capture may be megabytes.
    for (const { key, turnId } of await this.openTurnsOf(outcome.sessionId)) {
      const capture = await this.book.capture(turnId);
      if (!capture) continue;
      await this.book.end(
        key,
        (open) => open.find((turn) => turn.turnId === turnId && turn.openedAt <= at + CLOCK_SKEW_MS) ?? null,
        (turn) => pairedAlone(turn, capture, id, now),
      );
    }
    await this.bus.publish('sessionOutcome', { turnId: null, tenant, id, body: outcome });
  }

  /** @returns whether the newest answer of the request, or what it was before its history was edited, was found, or there is none */
  private async continue(
    operation: Continuing,
    now: number,
    isMeant: (turn: OpenTurn) => boolean = () => true,
  ): Promise<boolean> {
    const { sessionId, id, trace } = operation;
    const continuations = await this.continuationsOf(operation);
    if (continuations.length === 0) return true;
    const ending = (turn: OpenTurn, { texts }: Continuation): Ending => ({
      kind: 'paired',
      at: now,
      by: id,
      body: pairedBody(turn, texts),
      ...(trace && { trace }),
    });
    const paired = await Promise.all(
      continuations.map((continuation) => {
        const { key, context, isKnown } = continuation;
        const request = { id, sessionId, context, isKnown };
        return this.book.end(
          key,
          (turns) => turnToPair(turns.filter(isMeant), request),
          (turn) => ending(turn, continuation),
        );
      }),
    );
    const edited = continuations.filter((continuation) => continuation.edited);
    if (sessionId === null || edited.length === 0 || paired.some((turn) => turn !== null)) return paired[0] != null;
    const turns = await this.book.sessions.read(sessionId);
    // The newest alone: what an edited history holds before it may be of another conversation.
    for (const continuation of edited) {
      const meant = editedTurn(turns, continuation.edited!, continuation.context);
      if (!meant) continue;
      await this.book.end(
        meant.key,
        (open) => open.find((turn) => turn.turnId === meant.turnId && isMeant(turn)) ?? null,
        (turn) => ending(turn, continuation),
      );
      return true;
    }
    return false;
  }

  /** One that is done again is remembered from before: it finds no edited history any more, which may be another by now. */
  private async continuationsOf(operation: Continuing): Promise<readonly Continuation[]> {
    const { sessionId, continuations } = operation;
    if (sessionId === null) return continuations;
    return asRemembered(operation, await this.memory.add(sessionId, toRemember(operation)));
  }
}
