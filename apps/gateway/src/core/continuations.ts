import { answerPositions, type Sha256 } from './canonical-conversation';
import { pairTexts } from './judge-texts';
import type { EditedHistory } from './open-turn';
import type { Continuation } from './operation';
import type { ChatRequest } from './request-check';
import { exchangeHash, type PrefixIdentity } from './request-identity';

/** What a gateway remembers of the requests that it answered. */
export interface Memory {
  /** A request with this conversation came in this session. */
  wasAsked(conversation: string): boolean;
  /** An answer with this key, or an exchange with this hash, was given in this session and context. */
  wasGiven(context: string, hash: string): boolean;
}

/**
 * The answers of ours that a request may continue, newest first.
 *
 * @param identities of every prefix of the request
 * @param hasSession without a session nothing but the key counts. With one, a conversation that was never asked in this form may be
 *   the edited form of one that was; one that was asked is as it was, and only its key can say whose answer follows it.
 */
export function continuationsOf(
  request: ChatRequest,
  identities: readonly PrefixIdentity[],
  hasSession: boolean,
  memory: Memory,
  sha256: Sha256,
): Continuation[] {
  const { messages } = request;
  const editedAt = (index: number): EditedHistory | null => {
    const before = identities[index]!;
    if (!hasSession || memory.wasAsked(before.conversation)) return null;
    const exchange = exchangeHash(before, messages[index]!, sha256);
    if (exchange === null) return null;
    return { exchange, length: before.length, isKnown: memory.wasGiven(before.context, exchange) };
  };
  return answerPositions(messages).map((index) => {
    const key = identities[index + 1]!.conversation;
    const { context } = identities[index]!;
    const texts = pairTexts(messages, index);
    return { key, texts, context, isKnown: memory.wasGiven(context, key), edited: editedAt(index) };
  });
}
