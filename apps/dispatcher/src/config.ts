import { Method } from '@hindcast/contracts';
import { commonConfig, parseConfig, secret } from '@hindcast/platform';
import { z } from 'zod';

export const DispatcherConfig = commonConfig(8083).extend({
  /** Any PostgreSQL, `postgresql://…`. Unset: the embedded server of `DATA_DIR`. */
  DATABASE_URL: secret.regex(/^postgres(ql)?:\/\//, 'starts with postgresql://').optional(),
  /** Connections to the database. */
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).default(10),
  /** A query that takes longer is given up and tried again, milliseconds. */
  DATABASE_TIMEOUT_MS: z.coerce.number().int().positive().default(15_000),
  METHOD: Method.default('combine'),
  /** Largest accepted lag of a turn's policy version behind the one that serves, in versions. */
  MAX_STALENESS: z.coerce.number().int().nonnegative().default(4),
});
export type DispatcherConfig = z.infer<typeof DispatcherConfig>;

/** @throws HindcastError `config-invalid` that lists every mistake. */
export const readConfig = (env: Record<string, string | undefined>): Readonly<DispatcherConfig> =>
  parseConfig('dispatcher', DispatcherConfig, env);
