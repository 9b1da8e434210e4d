import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Log } from '@hindcast/platform';
import { sha256 } from './answer-recorder';
import { continuationsOf } from './core/continuations';
import type { ChatRequest } from './core/request-check';
import { attemptHash, type PrefixIdentity } from './core/request-identity';
import { Redaction } from './redaction';
import { TurnJournal } from './turn-journal';

/** Requests and conversations that this gateway remembers. */
const REMEMBERED = 40_000;

/** Writes down what a request says about the turns before it: which answers it continues, and that a session is over. */
@Injectable()
export class Conversations {
  /** Oldest first: requests by their id, and what was asked in a session. */
  private readonly seen = new Set<string>();

  constructor(
    private readonly journal: TurnJournal,
    private readonly redaction: Redaction,
    private readonly log: Log,
  ) {}

  /** Runs beside the engine's call; a request is never delayed or refused by it. Never throws. */
  async continue(request: ChatRequest, identities: readonly PrefixIdentity[], sessionId: string | null): Promise<void> {
    const last = identities.at(-1)!;
    const id = sha256(`${sessionId ?? ''}\n${attemptHash(last, sha256)}`);
    const isRepeated = this.seen.has(id);
    this.remember(id);
    const asked = (conversation: string): string => `${sessionId} ${conversation}`;
    if (sessionId !== null) this.remember(asked(last.conversation));
    const wasAsked = (conversation: string): boolean => this.seen.has(asked(conversation));
    const found = continuationsOf(request, identities, sessionId === null ? null : wasAsked, sha256);
    if (found.length === 0) return;
    const continuations = found.map((continuation) => ({
      ...continuation,
      texts: this.redaction.texts(continuation.texts),
    }));
    await this.journal
      .record({ kind: 'continue', id, isRepeated, sessionId, continuations })
      .catch((error: unknown) => {
        this.seen.delete(id);
        this.log.error('turn.continuation-lost', { error });
      });
  }

  /** Closes the open turns of a session. What cannot be written down is found again by their expiry. */
  async endSession(sessionId: string, detail: string): Promise<void> {
    await this.journal
      .record({ kind: 'end-session', id: randomUUID(), sessionId, detail })
      .catch((error: unknown) => this.log.error('session.end-lost', { sessionId, error }));
  }

  private remember(entry: string): void {
    // Anew at the end: what was seen lately is kept longest.
    this.seen.delete(entry);
    this.seen.add(entry);
    if (this.seen.size > REMEMBERED) this.seen.delete(this.seen.values().next().value!);
  }
}
