import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Log } from '@hindcast/platform';
import { sha256 } from './answer-recorder';
import { continuationsOf } from './core/continuations';
import type { ChatRequest } from './core/request-check';
import type { PrefixIdentity } from './core/request-identity';
import { Redaction } from './redaction';
import { TurnJournal } from './turn-journal';

/** Conversations of sessions that this gateway remembers having been asked. */
const REMEMBERED = 20_000;

/** Writes down what a request says about the turns before it: which answers it continues, and that a session is over. */
@Injectable()
export class Conversations {
  /** Session and conversation of the latest requests that named a session, oldest first. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly journal: TurnJournal,
    private readonly redaction: Redaction,
    private readonly log: Log,
  ) {}

  /** Runs beside the engine's call; a request is never delayed or refused by it. Never throws. */
  async continue(request: ChatRequest, identities: readonly PrefixIdentity[], sessionId: string | null): Promise<void> {
    const wasAsked = sessionId === null ? null : this.remember(sessionId, identities.at(-1)!.conversation);
    const continuations = continuationsOf(request, identities, wasAsked, sha256).map((continuation) => ({
      ...continuation,
      texts: this.redaction.texts(continuation.texts),
    }));
    if (continuations.length === 0) return;
    await this.journal
      .record({ kind: 'continue', id: randomUUID(), sessionId, continuations })
      .catch((error: unknown) => this.log.error('turn.continuation-lost', { error }));
  }

  /** Closes the open turns of a session. What cannot be written down is found again by their expiry. */
  async endSession(sessionId: string, detail: string): Promise<void> {
    await this.journal
      .record({ kind: 'end-session', id: randomUUID(), sessionId, detail })
      .catch((error: unknown) => this.log.error('session.end-lost', { sessionId, error }));
  }

  /** Adds a conversation and says which others of the session were asked. */
  private remember(sessionId: string, conversation: string): (other: string) => boolean {
    this.asked.add(`${sessionId} ${conversation}`);
    if (this.asked.size > REMEMBERED) this.asked.delete(this.asked.values().next().value!);
    return (other) => this.asked.has(`${sessionId} ${other}`);
  }
}
