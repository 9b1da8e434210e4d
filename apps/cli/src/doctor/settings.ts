import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { HindcastError } from '@hindcast/contracts';
import { CommonConfig, baseUrl, commaList, parseConfig, secret } from '@hindcast/platform';
import { z } from 'zod';
import { root } from '../root';
import { dataFolder, isOfNpmStart, present, writtenSettings, type Env } from '../written-settings';

// Of each app the variables that are looked into, with the app's own defaults; a test compares them with its config.ts.

const baseUrls = commaList.default(['http://127.0.0.1:8000/v1']).pipe(z.array(baseUrl));
const dialect = z.enum(['vllm', 'sglang', 'openai']).default('vllm');

const common = CommonConfig.pick({
  HOST: true,
  NATS_URL: true,
  NATS_USER: true,
  NATS_PASSWORD: true,
  NATS_CA_FILE: true,
  NATS_REPLICAS: true,
  DATA_DIR: true,
});

export const GatewaySettings = common.extend({
  POLICY_BASE_URL: baseUrls,
  POLICY_MODEL: z.string().min(1).default('seed'),
  POLICY_DIALECT: dialect,
  POLICY_TOKENIZER_DIR: z.string().min(1).optional(),
  POLICY_API_KEY: secret.optional(),
  OFF_POLICY: z.enum(['drop', 'train']).default('drop'),
  API_KEYS: z.string().optional(),
  API_KEYS_FILE: z.string().optional(),
  ADMIN_API_KEYS: z.string().optional(),
  SPOOL_DIR: z.string().optional(),
});
export const JudgeSettings = z.object({
  JUDGE_BASE_URL: baseUrl.default('http://127.0.0.1:8001/v1'),
  JUDGE_MODEL: z.string().min(1).default('demo-judge'),
  JUDGE_API_KEY: secret.optional(),
  VOTE_TIMEOUT_MS: z.coerce.number().int().positive().default(60_000),
});
export const TeacherSettings = z.object({
  POLICY_BASE_URL: baseUrls,
  POLICY_MODEL: z.string().min(1).default('seed'),
  POLICY_DIALECT: dialect,
  POLICY_API_KEY: secret.optional(),
  TEACHER_BASE_URL: commaList.pipe(z.array(baseUrl)).optional(),
  TEACHER_MODEL: z.string().optional(),
  TEACHER_DIALECT: z.enum(['vllm', 'sglang']).optional(),
  TEACHER_API_KEY: secret.optional(),
});
export const LedgerSettings = z.object({
  DATABASE_URL: secret.regex(/^postgres(ql)?:\/\//, 'starts with postgresql://').optional(),
  DATA_DIR: z.string().default('.data'),
});
export const TrainerSettings = z.object({
  MODEL_DIR: z.string().default('models/seed'),
  POLICY_DIR: z.string().optional(),
  DATA_DIR: z.string().default('.data'),
  METHOD: z.enum(['combine', 'binary-rl', 'opd', 'none']).default('combine'),
  TUNING: z.enum(['lora', 'full']).default('lora'),
  POLICY_BASE_URL: baseUrls,
  /** The trainer itself refuses `openai`. */
  POLICY_DIALECT: dialect,
  POLICY_API_KEY: secret.optional(),
});

/** What the services of one deployment are configured by, as far as it is looked into. */
export interface Settings {
  readonly gateway: z.infer<typeof GatewaySettings>;
  readonly judge: z.infer<typeof JudgeSettings>;
  /** As its environment has it, for a program of the judge's own. */
  readonly judgeEnv: Env;
  readonly teacher: z.infer<typeof TeacherSettings>;
  readonly ledger: z.infer<typeof LedgerSettings>;
  readonly trainer: z.infer<typeof TrainerSettings>;
  /** Where they came from, for a person. */
  readonly source: string;
  readonly dataDir: string;
}

/**
 * The services' settings: the environment, then the file that is named, else what `npm start` wrote down for each app, then each app's
 * defaults.
 *
 * @throws HindcastError `config-invalid` that lists what the first app with mistakes has wrong
 */
export function readSettings(env: Env, flags: { readonly envFile?: string; readonly dataDir?: string }): Settings {
  const file = flags.envFile === undefined ? null : fileSettings(flags.envFile);
  const dataDir = dataFolder({ ...file, ...present(env) }, flags.dataDir);
  const of = (app: string): Env => ({
    ...(file ?? writtenSettings(dataDir, app)),
    ...present(env),
    DATA_DIR: dataDir,
  });
  const judgeEnv = of('judge-svc');
  const isWritten = existsSync(join(dataDir, 'env', 'gateway.env'));
  return {
    gateway: parseConfig('gateway', GatewaySettings, of('gateway')),
    judge: parseConfig('judge-svc', JudgeSettings, judgeEnv),
    judgeEnv,
    teacher: parseConfig('teacher-svc', TeacherSettings, of('teacher-svc')),
    ledger: parseConfig('dispatcher', LedgerSettings, of('dispatcher')),
    trainer: parseConfig('trainer', TrainerSettings, of('trainer')),
    source:
      flags.envFile !== undefined
        ? `the environment and ${flags.envFile}`
        : isWritten
          ? `the environment and what npm start wrote down in ${dataDir}`
          : 'the environment and the defaults',
    dataDir,
  };
}

function fileSettings(file: string): Env {
  try {
    return present(parseEnv(readFileSync(file, 'utf8')) as Env);
  } catch (cause) {
    throw new HindcastError('config-invalid', `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** What starts a server of the set-up that `npm start` made; `null` for any other. */
export const startOf = ({ dataDir }: Settings, app: 'engine' | 'demo-judge', baseUrl: string): string | null =>
  isOfNpmStart(dataDir, app, baseUrl)
    ? `It is the one of npm start: end what still runs of it, and start it again with npm start; its log is ${join(dataDir, 'logs', `${app}.log`)}.`
    : null;

/** A folder as the services, which run in the repository's, take it. */
export const folderOf = (path: string): string => resolve(root, path);
