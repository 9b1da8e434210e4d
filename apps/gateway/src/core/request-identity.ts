import {
  canonicalHead,
  canonicalJson,
  canonicalMessage,
  contentText,
  isInstruction,
  type Sha256,
} from './canonical-conversation';
import type { ChatRequest } from './request-check';
import { unreadUtf8 } from './unread-text';

type Json = Record<string, unknown>;

/** What a prefix of a request is known by: the conversation, and what stands around it. */
export interface PrefixIdentity {
  /** Hash of the canonical conversation. Two tenants never share one. */
  readonly conversation: string;
  /** Hash of tools, system and developer messages, and of the end user that the request names. */
  readonly context: string;
  /** Messages that count. */
  readonly length: number;
  /** The last message that counts. */
  readonly last: Json | null;
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
  // Hashed as the bytes that it is, a long text need not be made a text first. An answer's may hold thinking.
  const utf8 = message['role'] === 'assistant' ? null : unreadUtf8(message);
  if (isInstruction(message)) {
    const start = `${before.context}\n${String(message['role'])}\n`;
    const context = utf8 !== null ? sha256(start, utf8) : sha256(start + contentText(message['content']).trim());
    return { ...before, context };
  }
  const start = `${before.conversation}\n`;
  return {
    conversation:
      utf8 !== null ? sha256(start + canonicalHead(message), utf8) : sha256(`${start}${canonicalMessage(message)}`),
    context: before.context,
    length: before.length + 1,
    last: message,
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
  last === null ? null : sha256(`${canonicalMessage(last)}\n${canonicalMessage({ ...answer, role: 'assistant' })}`);

/** Hashes by which a session remembers that a conversation was asked in it. */
export interface Asked {
  readonly conversation: string;
  /** Its last message with what stood around it; two may have the same. `null`: there is none. */
  readonly question: string | null;
}

/** As much of a message as tells it from others. */
const QUESTION_LENGTH = 4_096;

export function askedHashes({ conversation, context, last }: PrefixIdentity, sha256: Sha256): Asked {
  const asked = last === null ? null : canonicalMessage(last);
  const question = asked === null ? null : sha256(`${context}\n${asked.length}\n${asked.slice(0, QUESTION_LENGTH)}`);
  return { conversation, question };
}
