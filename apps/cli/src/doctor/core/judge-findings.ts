import { z } from 'zod';
import { fault, ok, warning, type Finding } from './finding';

/** What `apps/judge-svc/src/commands` prints. */
export const TrialVote = z.object({
  outcome: z.enum(['answered', 'refused', 'silent']),
  why: z.string().nullable(),
  score: z.union([z.literal(-1), z.literal(0), z.literal(1)]).nullable(),
  saidAs: z.enum(['json', 'boxed']).nullable(),
  isCut: z.boolean(),
  raw: z.string().nullable(),
  latencyMs: z.number().nonnegative(),
});
export type TrialVote = z.infer<typeof TrialVote>;

/** A vote that takes more of its time than this leaves little for a retry, or for a busier hour. */
const SLOW_SHARE = 0.5;

/** What one vote on a made-up turn, which deserves −1, says of a judge. @param start how it is started, where that is known */
export function judgeFinding(
  check: string,
  vote: TrialVote,
  { JUDGE_MODEL: model, VOTE_TIMEOUT_MS: limitMs }: { readonly JUDGE_MODEL: string; readonly VOTE_TIMEOUT_MS: number },
  start: string | null = null,
): Finding {
  const took = `in ${(vote.latencyMs / 1000).toFixed(1)} s`;
  if (vote.outcome === 'refused') return refused(check, vote.why ?? '', model);
  if (vote.outcome === 'silent')
    return fault(
      check,
      `gives no vote (${vote.why ?? 'no answer'})`,
      /VOTE_TIMEOUT_MS/.test(vote.why ?? '')
        ? 'Raise VOTE_TIMEOUT_MS, lower JUDGE_MAX_TOKENS, or use a faster judge.'
        : /no chat completion/.test(vote.why ?? '')
          ? 'Correct JUDGE_BASE_URL: it ends in /v1 and belongs to an OpenAI-compatible server.'
          : (start ?? 'Start it, or correct JUDGE_BASE_URL, which ends in /v1.'),
    );
  if (vote.score === null)
    return fault(
      check,
      `its vote cannot be read, every vote would abstain; it began: ${JSON.stringify(vote.raw ?? '')}`,
      vote.isCut
        ? 'It ran into the limit of its reply: raise JUDGE_MAX_TOKENS, or switch its thinking off.'
        : 'Use a model that follows instructions (JUDGE_MODEL); JUDGE_STRUCTURED=json_schema holds one to the form where its server can.',
    );
  if (vote.score !== -1)
    return warning(
      check,
      `votes ${vote.score === 1 ? '+1' : '0'} ${took} on an answer that its user calls wrong`,
      'Use a stronger model (JUDGE_MODEL); npx hindcast judge:agreement compares it with your users.',
    );
  const found = `votes ${took}, as ${vote.saidAs === 'json' ? 'JSON' : 'a boxed score'}`;
  if (vote.latencyMs > SLOW_SHARE * limitMs)
    return warning(check, `${found}; VOTE_TIMEOUT_MS is ${limitMs}`, 'Raise VOTE_TIMEOUT_MS, or use a faster judge.');
  return ok(check, found);
}

function refused(check: string, why: string, model: string): Finding {
  const status = /\d{3}/.exec(why)?.[0];
  if (status === '401' || status === '403')
    return fault(
      check,
      `refuses the key (${why}): every vote would abstain`,
      'Set JUDGE_API_KEY to a key that it takes.',
    );
  if (status === '404')
    return fault(
      check,
      `has no such path or model (${why})`,
      `Correct JUDGE_BASE_URL, which ends in /v1, and JUDGE_MODEL (now ${model}).`,
    );
  if (status === '429' || status === '402')
    return fault(
      check,
      `asks for patience or money (${why})`,
      'Raise its quota, or lower JUDGE_CONCURRENCY, HINT_VOTES and EVAL_VOTES.',
    );
  return fault(
    check,
    `refuses the vote (${why})`,
    'See its log; JUDGE_STRUCTURED=off leaves out what a server may not know.',
  );
}
