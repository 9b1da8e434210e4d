import { z } from 'zod';

const reward = 'reward must be a number from -1 to 1';
const comment = 'comment must be a text of at most 10000 characters';

/** Body of `POST /v1/sessions/{id}/outcome`. */
export const OutcomeRequest = z.object(
  {
    reward: z.number(reward).min(-1, reward).max(1, reward),
    comment: z.string(comment).max(10_000, comment).nullish(),
  },
  'the body must be a JSON object',
);
export type OutcomeRequest = z.infer<typeof OutcomeRequest>;

export type OutcomeCheck =
  | { readonly ok: true; readonly request: OutcomeRequest }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

/** The request, or the first thing that is wrong with it. */
export function checkOutcome(body: unknown): OutcomeCheck {
  const parsed = OutcomeRequest.safeParse(body);
  if (parsed.success) return { ok: true, request: parsed.data };
  const { message, path } = parsed.error.issues[0]!;
  return { ok: false, message, param: path.length > 0 ? path.join('.') : null };
}
