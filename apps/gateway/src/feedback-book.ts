import { Injectable } from '@nestjs/common';
import { DependencyUnavailable, Feedback, HindcastError, type Capture, type TurnStory } from '@hindcast/contracts';
import { Bus, Nats } from '@hindcast/platform';
import { sha256 } from './answer-recorder';
import { openTurnKey } from './core/canonical-conversation';
import type { FeedbackRequest } from './core/feedback-request';
import { pairTexts } from './core/judge-texts';
import { pairedBody } from './core/open-turn';
import { prefixIdentities } from './core/request-identity';
import { KvAccess } from './kv-access';
import { RecentTurns } from './recent-turns';
import { Redaction } from './redaction';
import { TurnBook } from './turn-book';

/** States in which the judge or the gate still reads what is stored. */
const IN_TIME: readonly TurnStory['state'][] = ['open', 'paired', 'judged'];

/** Stores what a person said of an answer, and ends the wait of a turn that is still open. */
@Injectable()
export class FeedbackBook {
  constructor(
    private readonly bus: Bus,
    private readonly nats: Nats,
    private readonly access: KvAccess,
    private readonly book: TurnBook,
    private readonly recent: RecentTurns,
    private readonly redaction: Redaction,
  ) {}

  /**
   * @throws HindcastError `turn-not-found`; `ledger-unavailable` when only the ledger could tell which turn is meant;
   *   DependencyUnavailable while NATS is away
   */
  async give(tenant: string, request: FeedbackRequest): Promise<{ turn_id: string; status: 'accepted' | 'late' }> {
    if (!this.nats.connected) throw new DependencyUnavailable('nats', 'feedback cannot be stored now');
    const id = request.turn_id ?? this.recent.story(tenant, request.response_id!)?.turnId ?? null;
    const story = await this.story(tenant, id ?? request.response_id!, id !== null);
    const turnId = id ?? story?.turnId;
    const capture = turnId && isUuid(turnId) ? await this.book.capture(turnId) : null;
    const isOwn = story !== null || capture?.header.tenant === tenant;
    if (!turnId || !isOwn) throw new HindcastError('turn-not-found', 'there is no such turn');
    const feedback: Feedback = {
      reward: request.reward,
      comment: this.redaction.text(request.comment ?? null),
      correction: this.redaction.text(request.correction ?? null),
      at: Date.now(),
    };
    await (await this.access.kv('feedback')).put(turnId, JSON.stringify(feedback));
    const isPairedByThis = capture !== null && (await this.pair(turnId, capture));
    const inTime = isPairedByThis || (story !== null && IN_TIME.includes(story.state));
    return { turn_id: turnId, status: inTime ? 'accepted' : 'late' };
  }

  /** What the ledger knows. Where the turn is known without it, its absence changes only how exactly `late` is told. */
  private async story(tenant: string, id: string, isKnown: boolean): Promise<TurnStory | null> {
    try {
      const answer = await this.bus.request('turn', { tenant, id });
      return answer.found ? answer.turn : null;
    } catch (error) {
      if (isKnown && error instanceof HindcastError && error.code === 'ledger-unavailable') return null;
      throw error;
    }
  }

  /** Feedback says all that a next state could: an open turn is paired with an empty one. */
  private async pair(turnId: string, { header }: Capture): Promise<boolean> {
    const [prompt] = prefixIdentities(header.tenant, { messages: header.messages }, sha256).slice(-1);
    const key = openTurnKey(prompt!.conversation, header.answer, sha256);
    const texts = pairTexts([...header.messages, { ...header.answer, role: 'assistant' }], header.messages.length);
    const ended = await this.book.end(
      key,
      (turns) => turns.find((turn) => turn.turnId === turnId) ?? null,
      (turn) => ({ kind: 'paired', at: Date.now(), by: 'feedback', body: pairedBody(turn, texts) }),
    );
    return ended !== null;
  }
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
