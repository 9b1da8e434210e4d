import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { TraceContext } from '@hindcast/contracts';
import { Latest, Log } from '@hindcast/platform';
import { sha256 } from './answer-recorder';
import { openTurnKey } from './core/canonical-conversation';
import { continuationsOf } from './core/continuations';
import type { ChatRequest } from './core/request-check';
import { askedHashes, attemptHash, exchangeHash, type PrefixIdentity } from './core/request-identity';
import { Redaction } from './redaction';
import { TurnJournal } from './turn-journal';

/** Entries that this gateway remembers, two or three a request. */
const REMEMBERED = 40_000;
/** Hex digits of a hash that an entry keeps: enough to tell all apart. */
const KEPT_DIGITS = 20;

/** Writes down what a request says about the turns before it: which answers it continues, and that a session is over. */
@Injectable()
export class Conversations {
  /** What was asked in a session, and in which session and context each answer and exchange was given. */
  private readonly memory = new Latest<string, true>(REMEMBERED);

  constructor(
    private readonly journal: TurnJournal,
    private readonly redaction: Redaction,
    private readonly log: Log,
  ) {}

  /** Runs beside the engine's call; a request is never delayed or refused by it. Never throws. */
  async continue(
    request: ChatRequest,
    identities: readonly PrefixIdentity[],
    sessionId: string | null,
    trace: TraceContext | null,
  ): Promise<void> {
    const last = identities.at(-1)!;
    const memory = {
      wasAsked: (conversation: string) => this.memory.has(entryOf(sessionId, 'asked', conversation)),
      wasShown: (key: string) => this.memory.has(entryOf(sessionId, 'shown', key)),
      wasGiven: (context: string, hash: string) => this.memory.has(entryOf(sessionId, context, hash)),
    };
    const found = continuationsOf(request, identities, sessionId !== null, memory, sha256);
    if (sessionId !== null) this.remember(entryOf(sessionId, 'asked', last.conversation));
    for (const { key, edited } of found) if (edited) this.remember(entryOf(sessionId, 'shown', key));
    if (found.length === 0 && sessionId === null) return;
    const continuations = found.map((continuation) => ({
      ...continuation,
      texts: this.redaction.texts(continuation.texts),
    }));
    const id = sha256(`${sessionId ?? ''}\n${attemptHash(last, sha256)}`);
    await this.journal
      .record({
        kind: 'continue',
        id,
        sessionId,
        ...(sessionId !== null && { asked: askedHashes(last, sha256) }),
        continuations,
        ...(trace && { trace }),
      })
      .catch((error: unknown) => this.log.error('turn.continuation-lost', { error }));
  }

  /** Remembers who was given these answers, captured or not: who continues one of them means no other conversation's turn. */
  given(
    prompt: PrefixIdentity,
    sessionId: string | null,
    messages: readonly Readonly<Record<string, unknown>>[],
  ): void {
    for (const message of messages) {
      this.remember(entryOf(sessionId, prompt.context, openTurnKey(prompt.conversation, message, sha256)));
      const exchange = sessionId === null ? null : exchangeHash(prompt, message, sha256);
      if (exchange !== null) this.remember(entryOf(sessionId, prompt.context, exchange));
    }
  }

  /** Closes the open turns of a session. What cannot be written down is found again by their expiry. */
  async endSession(sessionId: string, detail: string): Promise<void> {
    await this.journal
      .record({ kind: 'end-session', id: randomUUID(), sessionId, detail })
      .catch((error: unknown) => this.log.error('session.end-lost', { sessionId, error }));
  }

  private remember(entry: string): void {
    this.memory.set(entry, true);
  }
}

const entryOf = (sessionId: string | null, ...hashes: string[]): string =>
  [sessionId ?? '', ...hashes].map((part) => part.slice(0, KEPT_DIGITS)).join(' ');
