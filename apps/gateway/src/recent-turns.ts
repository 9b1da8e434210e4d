import { Injectable } from '@nestjs/common';
import type { CapturedTurn, ClosedTurn, TurnStory } from '@hindcast/contracts';
import { Latest } from '@hindcast/platform';

const KEPT = 10_000;

/** The latest answers of this gateway: the ledger learns of them a moment later. Only a shortcut; nothing depends on it. */
@Injectable()
export class RecentTurns {
  private readonly stories = new Latest<string, TurnStory>(2 * KEPT);

  add(tenant: string, turnId: string, captured: CapturedTurn, closed: ClosedTurn | null): void {
    const { responseId, policyVersion } = captured;
    const reason = captured.untrainable ?? closed?.reason ?? null;
    const story: TurnStory = {
      turnId,
      responseId,
      state: reason === null ? 'open' : 'closed',
      case: null,
      reason,
      policyVersion,
      evalScore: null,
      reward: null,
      rewardSource: null,
      hint: null,
      trainedIn: null,
    };
    for (const id of [turnId, responseId]) this.stories.set(`${tenant}\n${id}`, story);
  }

  /** The turn as it was at its end, by turn id or response id. */
  story(tenant: string, id: string): TurnStory | null {
    return this.stories.get(`${tenant}\n${id}`) ?? null;
  }
}
