import { answerPositions, type Sha256 } from './canonical-conversation';
import { pairTexts } from './judge-texts';
import type { Continuation, Operation } from './operation';
import type { ChatRequest } from './request-check';
import { askedHashes, exchangeHash, type PrefixIdentity } from './request-identity';

type Continuing = Extract<Operation, { kind: 'continue' }>;

/** What a gateway remembers of the requests that came before this one. */
export interface Memory {
  /** A request with this conversation came in this session. */
  wasAsked(conversation: string): boolean;
  /** A request of this session held what this key stands for, as the edited form of something. */
  wasShown(key: string): boolean;
  /** An answer with this key, or an exchange with this hash, was given in this session and context. */
  wasGiven(context: string, hash: string): boolean;
}

/**
 * The answers of ours that a request may continue, newest first.
 *
 * @param identities of every prefix of the request
 * @param hasSession without a session nothing but the key counts. With one, a conversation that was never asked in this form may be
 *   the edited form of one that was; one that was asked is as it was, and only its key can say whose answer follows it. The request
 *   that asked it looked for the edited turns before it: it is not done again, when another conversation may have come to match. So a branch of an edited history is none edited anew.
 */
export function continuationsOf(
  request: ChatRequest,
  identities: readonly PrefixIdentity[],
  hasSession: boolean,
  memory: Memory,
  sha256: Sha256,
): Continuation[] {
  const { messages } = request;
  const asked = identities.at(-1)!.conversation;
  let isAsked = memory.wasAsked(asked);
  return answerPositions(messages).map((index) => {
    const before = identities[index]!;
    const { context, conversation, length } = before;
    const key = identities[index + 1]!.conversation;
    const exchange = hasSession ? exchangeHash(before, messages[index]!, sha256) : null;
    isAsked ||= memory.wasAsked(conversation);
    const isGiven = memory.wasGiven(context, key);
    const isExchangeKnown = exchange !== null && memory.wasGiven(context, exchange);
    return {
      key,
      texts: pairTexts(messages, index),
      context,
      isKnown: isExchangeKnown || isGiven,
      isGiven,
      ...(hasSession && { before: askedHashes(before, sha256) }),
      edited:
        exchange === null || isAsked || isGiven || memory.wasShown(key)
          ? null
          : { exchange, length, asked, isKnown: isExchangeKnown },
    };
  });
}

/** Hashes that a session is to remember of a request. */
export function toRemember({ asked, continuations }: Continuing): string[] {
  if (!asked) return [];
  const shown = continuations.flatMap(({ key, edited }) => (edited ? [key] : []));
  return [asked.conversation, ...(asked.question === null ? [] : [asked.question]), ...shown];
}

/**
 * The answers that a request may continue, by what its session remembers of requests at all gateways: as `continuationsOf` does by
 * what one gateway remembers. Where the session remembers too much, the request continues less.
 *
 * @param wasSeen whether the session remembered a hash before this request
 */
export function asRemembered(
  { asked, continuations }: Continuing,
  wasSeen: (hash: string) => boolean,
): readonly Continuation[] {
  // Without these hashes nothing says that a history was edited.
  let isAsked = !asked || wasSeen(asked.conversation);
  return continuations.map((continuation) => {
    const { before, key, edited } = continuation;
    isAsked ||= !before || wasSeen(before.conversation);
    if (!before) return { ...continuation, edited: null };
    // Which answer was given to the message, and where, is not remembered: that it was asked is enough.
    const isExchangeKnown = before.question !== null && wasSeen(before.question);
    return {
      ...continuation,
      isKnown: continuation.isKnown || isExchangeKnown,
      edited:
        edited === null || isAsked || wasSeen(key) ? null : { ...edited, isKnown: edited.isKnown || isExchangeKnown },
    };
  });
}
