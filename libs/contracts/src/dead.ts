import { z } from 'zod';

/** `rl.v1.dead.<subject>`: a message that failed for good, with its error. `payload` can be published again as it is. */
export const DeadLetter = z.strictObject({
  subject: z.string().min(1),
  /** Durable name of the consumer that gave up. */
  consumer: z.string().min(1),
  code: z.string().min(1),
  error: z.string().max(2000),
  deliveries: z.int().positive(),
  messageId: z.string().nullable(),
  /** base64 of the message's bytes. */
  payload: z.base64(),
});
export type DeadLetter = z.infer<typeof DeadLetter>;
