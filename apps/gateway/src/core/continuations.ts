import { answerPositions, type Sha256 } from './canonical-conversation';
import { pairTexts } from './judge-texts';
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
  return answerPositions(messages).map((index) => {
    const before = identities[index]!;
    const { context, conversation, length } = before;
    const key = identities[index + 1]!.conversation;
    const exchange = hasSession ? exchangeHash(before, messages[index]!, sha256) : null;
    const isExchangeKnown = exchange !== null && memory.wasGiven(context, exchange);
    return {
      key,
      texts: pairTexts(messages, index),
      context,
      isKnown: isExchangeKnown || memory.wasGiven(context, key),
      edited:
        exchange === null || memory.wasAsked(conversation) ? null : { exchange, length, isKnown: isExchangeKnown },
    };
  });
}
