import { Method } from '@hindcast/contracts';
import { booleanFlag, commonConfig, parseConfig, secret } from '@hindcast/platform';
import { z } from 'zod';

/** As the driver reads it. What is wrong is not said: it may be in the middle of the password. */
function isReadableUrl(url: string): boolean {
  try {
    const { username, password, pathname } = new URL(url);
    return [username, password, pathname].every((part) => decodeURIComponent(part) !== undefined);
  } catch {
    return false;
  }
}

export const DispatcherConfig = commonConfig(8083).extend({
  /** Any PostgreSQL, `postgresql://…`. Unset: the embedded server of `DATA_DIR`. */
  DATABASE_URL: secret
    .regex(/^postgres(ql)?:\/\//, 'starts with postgresql://')
    .refine(
      isReadableUrl,
      'cannot be read: postgresql://user:password@host:port/database, with % @ / ? # : in user and password as %25 %40 %2F %3F %23 %3A',
    )
    .optional(),
  /** Connections to the database. */
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).default(10),
  /** A query that takes longer is given up and tried again, milliseconds. */
  DATABASE_TIMEOUT_MS: z.coerce.number().int().positive().default(15_000),
  METHOD: Method.default('combine'),
  /** Largest accepted lag of a turn's policy version behind the one that serves, in versions. */
  MAX_STALENESS: z.coerce.number().int().nonnegative().default(4),
  /** With `METHOD=binary-rl`, a session without a kept turn keeps its first one of reward 0. */
  AT_LEAST_ONE: booleanFlag.default(true),
  /** A person's reward replaces the votes, or is one more of them. The judge's should be the same. */
  FEEDBACK_REWARD: z.enum(['override', 'join']).default('override'),
  /** Readable eval votes needed, a person's that joins them included; with fewer the score is 0. The judge's should be the same. */
  EVAL_QUORUM: z.coerce.number().int().min(1).default(1),
  /** How the outcome of a session and the scores of its turns become a reward (`libs/advantage`, `sessionRewards`). */
  OUTCOME_MODE: z.enum(['outcome-plus-mean', 'outcome-plus-step']).default('outcome-plus-mean'),
  /** c: weight of the turns' scores against the outcome. */
  OUTCOME_STEP_COEFFICIENT: z.coerce.number().min(0).max(10).default(1),
  /** γ: what each step's distance from the end leaves of the outcome; only `outcome-plus-step`. */
  OUTCOME_DISCOUNT: z.coerce.number().gt(0).max(1).default(1),
  /** Whether the turns' scores are standardised within the session; only `outcome-plus-step`. */
  OUTCOME_STANDARDISE: booleanFlag.default(false),
  /** A judged turn waits this long for its session's outcome, seconds; then its own score decides. */
  OUTCOME_TTL_SECONDS: z.coerce.number().positive().default(3_600),
  /** Whether what each decision depended on is kept, for replay and export. */
  RECORD_TURNS: booleanFlag.default(true),
  /** Age at which recordings are deleted, days. */
  RECORD_RETENTION_DAYS: z.coerce.number().positive().default(30),
  /** |r| between the length of answers and their rewards that raises an alarm; 0 never does. */
  GUARD_LENGTH_CORRELATION: z.coerce.number().min(0).max(1).default(0),
});
export type DispatcherConfig = z.infer<typeof DispatcherConfig>;

/** @throws HindcastError `config-invalid` that lists every mistake. */
export const readConfig = (env: Record<string, string | undefined>): Readonly<DispatcherConfig> =>
  parseConfig('dispatcher', DispatcherConfig, env);
