import { GUARD_NAMES, VERIFIER_NAMES } from '@hindcast/advantage';
import { baseUrl, commonConfig, secret } from '@hindcast/platform';
import { z } from 'zod';

/** `a, b` → `['a', 'b']`, each of `names` at most once. */
const someOf = <Name extends string>(names: readonly Name[]): z.ZodType<Name[]> =>
  z
    .string()
    .transform((list) => [...new Set(list.split(',').map((entry) => entry.trim()))].filter((entry) => entry !== ''))
    .pipe(z.array(z.enum(names as readonly [Name, ...Name[]])));

const JudgeFields = commonConfig(8081).extend({
  JUDGE_BASE_URL: baseUrl.default('http://127.0.0.1:8001/v1').describe('OpenAI-compatible judge, with /v1'),
  JUDGE_MODEL: z.string().min(1).default('demo-judge'),
  JUDGE_API_KEY: secret.optional(),
  HINT_VOTES: z.coerce.number().int().min(0).max(64).default(3).describe('m for hints'),
  EVAL_VOTES: z.coerce.number().int().min(0).max(64).default(3).describe('m for scores'),
  EVAL_QUORUM: z.coerce
    .number()
    .int()
    .min(1)
    .default(1)
    .describe('readable eval votes needed; with fewer the score is 0'),
  HINT_QUORUM: z.coerce
    .number()
    .int()
    .min(1)
    .default(1)
    .describe('readable hint votes needed; with fewer no hint is accepted'),
  VOTE_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .positive()
    .max(3_600_000)
    .default(60_000)
    .describe('one vote with all its retries, from its worker slot on'),
  JUDGE_TEMPERATURE: z.coerce.number().min(0).max(2).default(0.6),
  JUDGE_MAX_TOKENS: z.coerce.number().int().positive().default(4096),
  JUDGE_CONTEXT_TOKENS: z.coerce
    .number()
    .int()
    .min(2_048)
    .default(4096)
    .describe('largest prompt; the reply comes on top'),
  JUDGE_CONCURRENCY: z.coerce
    .number()
    .int()
    .positive()
    .default(32)
    .describe('calls in flight, all turns of this process together'),
  JUDGE_STRUCTURED: z
    .enum(['auto', 'json_schema', 'off'])
    .default('auto')
    .describe('whether a vote asks for JSON by a schema'),
  JUDGE_BUDGET_CALLS: z.coerce.number().int().positive().optional().describe('requests within an hour'),
  JUDGE_BUDGET_TOKENS: z.coerce.number().int().positive().optional().describe('tokens within an hour'),
  JUDGE_BUDGET_COST: z.coerce.number().positive().optional().describe('money within an hour'),
  JUDGE_PRICE_PROMPT: z.coerce.number().nonnegative().optional().describe('of a million prompt tokens'),
  JUDGE_PRICE_COMPLETION: z.coerce.number().nonnegative().optional().describe('of a million completion tokens'),
  HINT_ACCEPTANCE: z.enum(['any', 'majority']).default('any'),
  FEEDBACK_REWARD: z
    .enum(['override', 'join'])
    .default('override')
    .describe("a person's reward decides alone, or is one more vote"),
  VERIFIERS: someOf(VERIFIER_NAMES).default([]).describe('score a turn in place of the eval votes'),
  GUARDS: someOf(GUARD_NAMES).default([]).describe('look for reward hacking in the answer'),
});

/** What single variables cannot say. */
export const JudgeConfig = JudgeFields.superRefine((config, context) => {
  const fail = (path: keyof z.infer<typeof JudgeFields>, message: string): void =>
    void context.addIssue({ code: 'custom', path: [path], message });
  const { EVAL_VOTES, HINT_VOTES, JUDGE_BUDGET_CALLS } = config;
  const joined = config.FEEDBACK_REWARD === 'join' ? 1 : 0;
  if (EVAL_VOTES > 0 && config.EVAL_QUORUM > EVAL_VOTES + joined)
    fail('EVAL_QUORUM', `${EVAL_VOTES} votes (EVAL_VOTES) never make a quorum of ${config.EVAL_QUORUM}`);
  if (HINT_VOTES > 0 && config.HINT_QUORUM > HINT_VOTES)
    fail('HINT_QUORUM', `${HINT_VOTES} votes (HINT_VOTES) never make a quorum of ${config.HINT_QUORUM}`);
  if (JUDGE_BUDGET_CALLS !== undefined && JUDGE_BUDGET_CALLS < EVAL_VOTES + HINT_VOTES)
    fail('JUDGE_BUDGET_CALLS', `less than the ${EVAL_VOTES + HINT_VOTES} votes of one turn: none would ever be judged`);
  if ((config.JUDGE_PRICE_PROMPT === undefined) !== (config.JUDGE_PRICE_COMPLETION === undefined))
    fail('JUDGE_PRICE_PROMPT', 'a cost needs both prices, JUDGE_PRICE_PROMPT and JUDGE_PRICE_COMPLETION');
  if (config.JUDGE_BUDGET_COST !== undefined && config.JUDGE_PRICE_PROMPT === undefined)
    fail('JUDGE_BUDGET_COST', 'needs JUDGE_PRICE_PROMPT and JUDGE_PRICE_COMPLETION');
});
export type JudgeConfig = Readonly<z.infer<typeof JudgeConfig>>;
