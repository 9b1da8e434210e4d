import { Injectable } from '@nestjs/common';
import { DependencyUnavailable, HindcastError, type SessionOutcome } from '@hindcast/contracts';
import { Log } from '@hindcast/platform';
import { sha256 } from './answer-recorder';
import { canonicalJson } from './core/canonical-conversation';
import type { OutcomeRequest } from './core/outcome-request';
import { Redaction } from './redaction';
import { TurnJournal } from './turn-journal';

/** The contract's limit, UTF-16 units. */
const MAX_COMMENT = 10_000;

/** Writes down how a session ended, as its environment says. */
@Injectable()
export class OutcomeBook {
  constructor(
    private readonly journal: TurnJournal,
    private readonly redaction: Redaction,
    private readonly log: Log,
  ) {}

  /**
   * Returns once the outcome is safe: on the bus, or on disk while NATS is away. The same outcome given again is one message; another
   * one of the session is a message of its own, and which counts is the ledger's to say.
   *
   * @throws DependencyUnavailable when it could be written down nowhere
   */
  async give(tenant: string, sessionId: string, { reward, comment }: OutcomeRequest): Promise<void> {
    const outcome: SessionOutcome = {
      sessionId,
      reward,
      comment: this.redaction.text(comment ?? null)?.slice(0, MAX_COMMENT) ?? null,
    };
    const id = `outcome.${sessionId}.${sha256(canonicalJson(outcome)).slice(0, 32)}`;
    try {
      const stored = await this.journal.record({ kind: 'outcome', id, tenant, at: Date.now(), outcome });
      this.log.info('session.outcome', { sessionId, reward, stored });
    } catch (cause) {
      if (cause instanceof HindcastError) throw cause;
      throw new DependencyUnavailable('nats', 'the outcome cannot be written down now', undefined, { cause });
    }
  }
}
