import { z } from 'zod';

/** Body of `POST /v1/feedback`. */
export const FeedbackRequest = z
  .object({
    turn_id: z.string().min(1).max(200).optional(),
    response_id: z.string().min(1).max(200).optional(),
    reward: z.union([z.literal(-1), z.literal(0), z.literal(1)]),
    comment: z.string().max(10_000).nullish(),
    correction: z.string().max(10_000).nullish(),
  })
  .refine((body) => (body.turn_id === undefined) !== (body.response_id === undefined), {
    message: 'give either turn_id or response_id',
  });
export type FeedbackRequest = z.infer<typeof FeedbackRequest>;
