import { z } from 'zod';

const id = (field: string): z.ZodOptional<z.ZodString> => {
  const message = `${field} must be a text of 1 to 200 characters`;
  return z.string(message).min(1, message).max(200, message).optional();
};
const remark = (field: string): z.ZodOptional<z.ZodNullable<z.ZodString>> => {
  const message = `${field} must be a text of at most 10000 characters`;
  return z.string(message).max(10_000, message).nullish();
};

/** Body of `POST /v1/feedback`. */
export const FeedbackRequest = z
  .object(
    {
      turn_id: id('turn_id'),
      response_id: id('response_id'),
      reward: z.union([z.literal(-1), z.literal(0), z.literal(1)], 'reward must be -1, 0 or 1'),
      comment: remark('comment'),
      correction: remark('correction'),
    },
    'the body must be a JSON object',
  )
  .refine((body) => (body.turn_id === undefined) !== (body.response_id === undefined), {
    message: 'give either turn_id or response_id',
    path: ['turn_id'],
  });
export type FeedbackRequest = z.infer<typeof FeedbackRequest>;

export type FeedbackCheck =
  | { readonly ok: true; readonly request: FeedbackRequest }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

/** The request, or the first thing that is wrong with it. */
export function checkFeedback(body: unknown): FeedbackCheck {
  const parsed = FeedbackRequest.safeParse(body);
  if (parsed.success) return { ok: true, request: parsed.data };
  const { message, path } = parsed.error.issues[0]!;
  return { ok: false, message, param: path.length > 0 ? path.join('.') : null };
}
