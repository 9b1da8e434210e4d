import { baseUrl, commaList, commonConfig, secret } from '@hindcast/platform';
import { z } from 'zod';

const baseUrls = commaList.pipe(z.array(baseUrl));

const Environment = commonConfig(8082).extend({
  POLICY_BASE_URL: commaList.default(['http://127.0.0.1:8000/v1']).pipe(z.array(baseUrl)),
  POLICY_MODEL: z.string().min(1).default('seed'),
  POLICY_DIALECT: z.enum(['vllm', 'sglang', 'openai']).default('vllm'),
  POLICY_API_KEY: secret.optional(),
  TEACHER_BASE_URL: baseUrls.optional().describe('default: POLICY_BASE_URL'),
  TEACHER_MODEL: z
    .string()
    .optional()
    .describe('default: POLICY_MODEL, the frozen base model; current: the version that serves'),
  TEACHER_DIALECT: z.enum(['vllm', 'sglang']).optional(),
  TEACHER_API_KEY: secret.optional(),
  TEACHER_CONCURRENCY: z.coerce.number().int().positive().max(64).default(16).describe('turns scored at once'),
  TEACHER_TOP_K: z.coerce
    .number()
    .int()
    .min(0)
    .max(1024)
    .default(0)
    .describe('most likely ids kept per position; 0: none'),
  TEACHER_RECHECK_EVERY: z.coerce
    .number()
    .int()
    .nonnegative()
    .default(50)
    .describe('every so many turns are scored twice and compared; 0: never'),
  TEACHER_TIMEOUT_MS: z.coerce.number().int().positive().default(120_000).describe('one call to the engine'),
});

/** `TEACHER_*` default to `POLICY_*`: the policy's own base model is its teacher. */
export const TeacherConfig = Environment.transform((env, context) => {
  const dialect = env.TEACHER_DIALECT ?? env.POLICY_DIALECT;
  if (dialect === 'openai') {
    context.addIssue({
      code: 'custom',
      path: ['TEACHER_DIALECT'],
      message: 'an `openai` server cannot score given ids; set TEACHER_DIALECT to vllm or sglang',
    });
    return z.NEVER;
  }
  return {
    ...env,
    TEACHER_BASE_URL: env.TEACHER_BASE_URL ?? env.POLICY_BASE_URL,
    TEACHER_MODEL: env.TEACHER_MODEL ?? env.POLICY_MODEL,
    TEACHER_DIALECT: dialect,
    TEACHER_API_KEY: env.TEACHER_API_KEY ?? env.POLICY_API_KEY,
  };
});
export type TeacherConfig = Readonly<z.infer<typeof TeacherConfig>>;
