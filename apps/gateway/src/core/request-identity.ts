import { canonicalJson, canonicalMessage, contentText, type Sha256 } from './canonical-conversation';
import type { ChatRequest } from './request-check';

type Json = Record<string, unknown>;

/** What a prefix of a request is known by: the conversation, and what stands around it. */
export interface PrefixIdentity {
  /** Hash of the canonical conversation. Two tenants never share one. */
  readonly conversation: string;
  /** Hash of tools, system and developer messages, and of the end user that the request names. */
  readonly context: string;
  /** Messages that count. */
  readonly length: number;
  /** Canonical form of the last message that counts. */
  readonly last: string | null;
}

/** Fields in which a client may tell its users or conversations apart (OpenAI's chat completions). */
const USER_FIELDS = ['user', 'safety_identifier', 'prompt_cache_key'];

/**
 * The identity of every prefix of a request: entry `i` stands for the first `i` messages. A chain of hashes, so that all prefixes
 * of a long conversation cost one pass.
 */
export function prefixIdentities(tenant: string, request: ChatRequest, sha256: Sha256): PrefixIdentity[] {
  const around = [request['tools'] ?? null, ...USER_FIELDS.map((field) => request[field] ?? null)];
  const identities: PrefixIdentity[] = [
    {
      conversation: sha256(`hindcast conversation\n${tenant}`),
      context: around.every((value) => value === null) ? 'none' : sha256(canonicalJson(around)),
      length: 0,
      last: null,
    },
  ];
  for (const message of request.messages) identities.push(following(identities.at(-1)!, message, sha256));
  return identities;
}

function following(before: PrefixIdentity, message: Json, sha256: Sha256): PrefixIdentity {
  const canonical = canonicalMessage(message);
  if (canonical === null) {
    const instruction = `${String(message['role'])}\n${contentText(message['content']).trim()}`;
    return { ...before, context: sha256(`${before.context}\n${instruction}`) };
  }
  return {
    conversation: sha256(`${before.conversation}\n${canonical}`),
    context: before.context,
    length: before.length + 1,
    last: canonical,
  };
}

/** Equal for the attempts of one request, and for no other request. */
export const attemptHash = ({ conversation, context }: PrefixIdentity, sha256: Sha256): string =>
  sha256(`${conversation}\n${context}`);

/**
 * Hash of an answer with the message that it answers: what is left of a turn in a history that was compacted or edited before it.
 * `null` when there is nothing before the answer.
 */
export const exchangeHash = ({ last }: PrefixIdentity, answer: Json, sha256: Sha256): string | null =>
  last === null ? null : sha256(`${last}\n${canonicalMessage({ ...answer, role: 'assistant' })}`);

/** Hashes by which a session remembers that a conversation was asked in it. */
export interface Asked {
  readonly conversation: string;
  /** Its last message with what stood around it; two may have the same. `null`: there is none. */
  readonly question: string | null;
}

/** As much of a message as tells it from others. */
const QUESTION_LENGTH = 4_096;

export function askedHashes({ conversation, context, last }: PrefixIdentity, sha256: Sha256): Asked {
  const question = last === null ? null : sha256(`${context}\n${last.length}\n${last.slice(0, QUESTION_LENGTH)}`);
  return { conversation, question };
}
