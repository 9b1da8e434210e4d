import { commonConfig, secret } from '@hindcast/platform';
import { z } from 'zod';

export const JudgeConfig = commonConfig(8081).extend({
  JUDGE_BASE_URL: z.url().default('http://127.0.0.1:8001/v1').describe('OpenAI-compatible judge, with /v1'),
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
  VOTE_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .positive()
    .default(60_000)
    .describe('one vote with all its retries, from its worker slot on'),
  JUDGE_TEMPERATURE: z.coerce.number().min(0).max(2).default(0.6),
  JUDGE_MAX_TOKENS: z.coerce.number().int().positive().default(4096),
  JUDGE_CONCURRENCY: z.coerce.number().int().positive().default(32).describe('calls in flight, all turns together'),
  HINT_ACCEPTANCE: z.enum(['any', 'majority']).default('any'),
});
export type JudgeConfig = Readonly<z.infer<typeof JudgeConfig>>;
