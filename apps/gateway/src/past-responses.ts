import { Injectable } from '@nestjs/common';
import type { Capture } from '@hindcast/contracts';
import type { PastAnswer } from './core/responses/conversation-input';
import { TurnBook } from './turn-book';
import { TurnJournal } from './turn-journal';

/** Captures read at a time for one request. */
const READ_AT_ONCE = 16;

/**
 * Answers of before that a request of the Responses API names. Only what was captured is kept, and for its tenant only. What this gateway
 * has not brought to NATS yet it finds where it keeps it.
 */
@Injectable()
export class PastResponses {
  constructor(
    private readonly book: TurnBook,
    private readonly journal: TurnJournal,
  ) {}

  /**
   * @returns the captured ones, by turn id
   * @throws DependencyUnavailable while NATS is away, for what only NATS may have
   */
  async answers(tenant: string, turnIds: readonly string[]): Promise<ReadonlyMap<string, PastAnswer>> {
    const found = new Map<string, PastAnswer>();
    for (let start = 0; start < turnIds.length; start += READ_AT_ONCE) {
      const some = turnIds.slice(start, start + READ_AT_ONCE);
      const captures = await Promise.all(some.map((turnId) => this.capture(tenant, turnId)));
      for (const capture of captures) if (capture) found.set(capture.header.turnId, capture.header);
    }
    return found;
  }

  /** @throws DependencyUnavailable while NATS is away, for what only NATS may have */
  async capture(tenant: string, turnId: string): Promise<Capture | null> {
    // In this order: what is not here any more is there by then.
    const capture = (await this.journal.capture(turnId)) ?? (await this.book.capture(turnId));
    return capture?.header.tenant === tenant ? capture : null;
  }
}
