import { answerPositions, type Sha256 } from './canonical-conversation';
import { pairTexts } from './judge-texts';
import type { EditedHistory } from './open-turn';
import type { Continuation } from './operation';
import type { ChatRequest } from './request-check';
import { exchangeHash, type PrefixIdentity } from './request-identity';

/**
 * The answers of ours that a request may continue, newest first.
 *
 * @param identities of every prefix of the request
 * @param wasAsked whether a request with this conversation came before; then what follows it is the history as it was, and only
 *   the key can say whose it is. `null` where the client names no session: nothing but the key counts.
 */
export function continuationsOf(
  request: ChatRequest,
  identities: readonly PrefixIdentity[],
  wasAsked: ((conversation: string) => boolean) | null,
  sha256: Sha256,
): Continuation[] {
  const { messages } = request;
  const editedAt = (index: number): EditedHistory | null => {
    const before = identities[index]!;
    if (!wasAsked || wasAsked(before.conversation)) return null;
    const exchange = exchangeHash(before, messages[index]!, sha256);
    return exchange === null ? null : { exchange, length: before.length };
  };
  return answerPositions(messages).map((index) => ({
    key: identities[index + 1]!.conversation,
    texts: pairTexts(messages, index),
    context: identities[index]!.context,
    edited: editedAt(index),
  }));
}
