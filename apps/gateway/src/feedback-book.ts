import { Injectable } from '@nestjs/common';
import {
  DependencyUnavailable,
  Feedback,
  HindcastError,
  type Capture,
  type TurnStory,
  readNewer,
} from '@hindcast/contracts';
import { Bus, Nats } from '@hindcast/platform';
import { sha256 } from './answer-recorder';
import { openTurnKey } from './core/canonical-conversation';
import type { FeedbackRequest } from './core/feedback-request';
import { pairedAlone } from './core/paired-alone';
import { prefixIdentities } from './core/request-identity';
import { KvAccess } from './kv-access';
import { RecentTurns } from './recent-turns';
import { Redaction } from './redaction';
import { TurnBook } from './turn-book';

/** States in which the judge or the gate still reads what is stored. */
const IN_TIME: readonly TurnStory['state'][] = ['open', 'paired', 'judged'];

/** `late`: recorded, but the turn had been decided or closed before. */
export interface FeedbackReply {
  readonly turn_id: string;
  readonly status: 'accepted' | 'late';
}

/**
 * Stores what a person said of an answer, and ends the wait of a turn that is still open. What came in time stands under the turn
 * id, where judge and gate read it, and stays there as what they may have used; what came late stands beside it.
 */
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
   * The same feedback given again changes nothing and is answered as before; another one replaces it until the turn is decided.
   * While the ledger is away nothing is decided, and feedback on a turn that is known without it is accepted.
   *
   * @throws HindcastError `turn-not-found`; `ledger-unavailable` when only the ledger could tell which turn is meant;
   *   DependencyUnavailable while NATS is away
   */
  async give(tenant: string, request: FeedbackRequest): Promise<FeedbackReply> {
    if (!this.nats.connected) throw new DependencyUnavailable('nats', 'feedback cannot be stored now');
    const { turnId, story, capture } = await this.turnMeant(tenant, request);
    const feedback: Feedback = {
      reward: request.reward,
      comment: this.redaction.text(request.comment ?? null),
      correction: this.redaction.text(request.correction ?? null),
      at: Date.now(),
    };
    const [inTime, late] = await Promise.all([turnId, lateKey(turnId)].map((key) => this.stored(key)));
    const isKnown = isSame(inTime, feedback);
    if (!isKnown && isSame(late, feedback)) return { turn_id: turnId, status: 'late' };
    const isLate = !isKnown && story !== null && !IN_TIME.includes(story.state);
    if (!isKnown)
      await (await this.access.kv('feedback')).put(isLate ? lateKey(turnId) : turnId, JSON.stringify(feedback));
    // Also for one that is known: the gateway that stored it may have died before it paired the turn.
    if (!isLate && capture) await this.pair(turnId, capture);
    return { turn_id: turnId, status: isLate ? 'late' : 'accepted' };
  }

  private async turnMeant(
    tenant: string,
    request: FeedbackRequest,
  ): Promise<{ turnId: string; story: TurnStory | null; capture: Capture | null }> {
    const given = request.turn_id ?? request.response_id!;
    const recent = this.recent.story(tenant, given);
    // Clients confuse the two ids; either names the turn.
    const known = recent?.turnId ?? (request.turn_id !== undefined && isUuid(given) ? given : null);
    const story = (await this.ledgerStory(tenant, known ?? given, known !== null)) ?? recent;
    const turnId = story?.turnId ?? known;
    const capture = turnId !== null && isUuid(turnId) ? await this.book.capture(turnId) : null;
    const isOwn = story !== null || capture?.header.tenant === tenant;
    // Only a turn's own id may become a key of the store: a response id is whatever an engine says.
    if (turnId === null || !isUuid(turnId) || !isOwn)
      throw new HindcastError('turn-not-found', 'there is no such turn');
    return { turnId, story, capture };
  }

  private async stored(key: string): Promise<Feedback | null> {
    const entry = await (await this.access.kv('feedback')).get(key);
    if (entry?.operation !== 'PUT') return null;
    const parsed = readNewer(Feedback, entry.json());
    if (!parsed.success) throw parsed.error;
    return parsed.data;
  }

  /** What the ledger knows; `null` while it is away, where the turn is known without it. */
  private async ledgerStory(tenant: string, id: string, isKnown: boolean): Promise<TurnStory | null> {
    try {
      const answer = await this.bus.request('turn', { tenant, id });
      return answer.found ? answer.turn : null;
    } catch (error) {
      if (isKnown && error instanceof HindcastError && error.code === 'ledger-unavailable') return null;
      throw error;
    }
  }

  /** Feedback says all that a next state could: an open turn is paired with an empty one. */
  private async pair(turnId: string, capture: Capture): Promise<void> {
    const { header } = capture;
    const [prompt] = prefixIdentities(header.tenant, { messages: header.messages }, sha256).slice(-1);
    const key = openTurnKey(prompt!.conversation, header.answer, sha256);
    await this.book.end(
      key,
      (turns) => turns.find((turn) => turn.turnId === turnId) ?? null,
      (turn) => pairedAlone(turn, capture, 'feedback', Date.now()),
    );
  }
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

const lateKey = (turnId: string): string => `late.${turnId}`;

const isSame = (known: Feedback | null | undefined, given: Feedback): boolean =>
  known != null &&
  known.reward === given.reward &&
  known.comment === given.comment &&
  known.correction === given.correction;
