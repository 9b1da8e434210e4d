import { Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { Bus } from '@hindcast/platform';
import { TurnBook } from '../turn-book';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Knows whose turn an id means. */
@Injectable()
export class TurnOwners {
  constructor(
    private readonly bus: Bus,
    private readonly book: TurnBook,
  ) {}

  /**
   * The capture says it, or the ledger, which learns of a turn a moment later and knows response ids, too.
   *
   * @param id of the turn or of its response
   * @throws HindcastError `turn-not-found`; `ledger-unavailable` when only the ledger could tell; DependencyUnavailable while NATS is away
   */
  async tenantOf(id: string): Promise<string> {
    const capture = UUID.test(id) ? await this.book.capture(id) : null;
    if (capture) return capture.header.tenant;
    const answer = await this.bus.request('turnDetail', { tenant: null, id });
    if (!answer.found) throw new HindcastError('turn-not-found', 'there is no such turn');
    return answer.detail.turn.tenant;
  }
}
