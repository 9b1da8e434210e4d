import { z } from 'zod';

/** Identity of one captured answer; also the message id of everything that follows from it. */
export const TurnId = z.uuid();
/** HMAC of tenant and the client's session id, hex; `null` when the client named no session. The raw id never leaves the gateway. */
export const SessionId = z
  .string()
  .regex(/^[0-9a-f]{16,64}$/)
  .nullable();
/** Name of the API key's owner; `default` in open mode. */
export const Tenant = z.string().min(1).max(128);
/** Policy version: 0 is the model as it was loaded, each published step adds one or more. */
export const PolicyVersion = z.int().nonnegative();
/** Milliseconds since the epoch. */
export const Timestamp = z.int().nonnegative();

/** Majority score of a turn: −1 failed, 0 unknown, +1 worked. */
export const Score = z.union([z.literal(-1), z.literal(0), z.literal(1)]);
export type Score = z.infer<typeof Score>;

/** r of a sample: a score, or what an environment gave; an outcome with its step scores may leave [−1, 1]. */
export const Reward = z.number().min(-100).max(100);

/** A message of a conversation as the judge may see it: role, text, and the tool's name for a tool result. */
export const TextMessage = z.strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  text: z.string(),
  toolName: z.string().nullable(),
});
export type TextMessage = z.infer<typeof TextMessage>;

/** Wraps every message: version of the envelope, turn, tenant, time of publication. */
export interface Envelope<Body> {
  readonly v: 1;
  readonly turnId: string | null;
  readonly tenant: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly body: Body;
}
