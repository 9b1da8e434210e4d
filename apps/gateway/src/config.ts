import { join } from 'node:path';
import { baseUrl, booleanFlag, commaList, commonConfig, secret } from '@hindcast/platform';
import { z } from 'zod';
import { isLoopback, parseAdminKey, parseApiKey } from './core/api-keys';
import { parseOrigin } from './core/cors';

/** A comma-separated list whose entries `parse` reads; what it throws becomes the variable's mistake. */
const listOf = <T>(parse: (entry: string) => T) =>
  commaList.transform((entries, context): readonly T[] => {
    try {
      return entries.map(parse);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });

export const GatewayConfig = commonConfig(8080)
  .extend({
    /** Base URLs of the policy engines, with `/v1`. */
    POLICY_BASE_URL: commaList.default(['http://127.0.0.1:8000/v1']).pipe(z.array(baseUrl)),
    /** Name of the base model in the engines: policy version 0. */
    POLICY_MODEL: z.string().min(1).default('seed'),
    POLICY_DIALECT: z.enum(['vllm', 'sglang', 'openai']).default('vllm'),
    /** Folder with the served model's tokenizer.json, tokenizer_config.json and template: what the `openai` dialect finds ids with. */
    POLICY_TOKENIZER_DIR: z.string().min(1).optional(),
    POLICY_API_KEY: secret.optional(),
    /** Longest silence of an engine: before its answer begins (a whole answer comes all at once), and between two pieces. */
    POLICY_TIMEOUT_MS: z.coerce.number().int().positive().default(600_000),
    /** Further attempts of a request whose answer has not begun; 0: none. */
    POLICY_RETRIES: z.coerce.number().int().min(0).max(10).default(2),
    /** Longest pause before a retry. An engine whose Retry-After asks for more is not asked again. */
    POLICY_RETRY_MAX_WAIT_MS: z.coerce.number().int().min(0).max(60_000).default(2_000),
    /** Retry, once, when an engine cut the connection after it got the request. */
    POLICY_RETRY_CUT: booleanFlag.default(false),
    /** Time between two health checks of an engine. */
    POLICY_HEALTH_MS: z.coerce.number().int().min(50).default(3_000),
    /** Failures in a row after which an engine gets no requests for POLICY_BREAKER_PAUSE_MS; 0: never. */
    POLICY_BREAKER_FAILURES: z.coerce.number().int().min(0).default(5),
    POLICY_BREAKER_PAUSE_MS: z.coerce.number().int().positive().default(5_000),
    /** A client that takes nothing of its streamed answer for so long counts as gone, and its engine is let go. */
    CLIENT_TIMEOUT_MS: z.coerce.number().int().positive().default(300_000),
    /** `name:sha256hex,…`; the name is the tenant. */
    API_KEYS: listOf(parseApiKey).default([]),
    /** `name:sha256hex,…`: keys for the dashboard, the command line and everything else; see docs/keys.md. */
    ADMIN_API_KEYS: listOf(parseAdminKey).default([]),
    /** JSON file with more keys; read again when it changes. */
    API_KEYS_FILE: z.string().optional(),
    /** Limits of a key that has none of its own; unset: no limit. Each gateway counts for itself. */
    KEY_REQUESTS_PER_MINUTE: z.coerce.number().int().positive().optional(),
    KEY_TOKENS_PER_MINUTE: z.coerce.number().int().positive().optional(),
    /** Origins whose pages may read answers; none unless listed. */
    CORS_ORIGINS: listOf(parseOrigin).default([]),
    /** Folder of the built dashboard. Default: the one that comes with the gateway. */
    DASHBOARD_DIR: z.string().min(1).optional(),
    /** Type of a request that names none. */
    DEFAULT_TURN_TYPE: z.enum(['main', 'side']).default('main'),
    /** How long an answer waits for what comes after it. */
    OPEN_TURN_TTL_SECONDS: z.coerce.number().positive().default(3600),
    /** Where operations wait while NATS is away. Default: `spool` in DATA_DIR. */
    SPOOL_DIR: z.string().optional(),
    /** Room of the spool, bytes; when it is full the oldest operations are dropped and counted. */
    SPOOL_MAX_BYTES: z.coerce
      .number()
      .int()
      .positive()
      .default(1024 * 1024 * 1024),
    /** Whether an answer whose log-probs are not the behaviour policy's is trained on. */
    OFF_POLICY: z.enum(['drop', 'train']).default('drop'),
    /** `force`: every captured answer is sampled at T = 1, top-p = 1, whatever the client asks. */
    SAMPLING: z.enum(['client', 'force']).default('client'),
    /** 404 for a model name that no engine lists. */
    STRICT_MODEL: booleanFlag.default(false),
    MAX_BODY_BYTES: z.coerce
      .number()
      .int()
      .positive()
      .default(32 * 1024 * 1024),
    /** What is kept out of storage: nothing, the built-in patterns, or what a module's `redact(text)` replaces. */
    REDACTION: z.string().min(1).default('off'),
    /** Key of the HMAC that replaces session ids. Default: a random one, kept in DATA_DIR. All gateways of a deployment share it. */
    SESSION_SECRET: secret.min(16).optional(),
  })
  .superRefine((config, context) => {
    const keys = [...config.API_KEYS, ...config.ADMIN_API_KEYS];
    if (keys.length === 0 && config.API_KEYS_FILE === undefined && !isLoopback(config.HOST)) {
      context.addIssue({
        code: 'custom',
        path: ['HOST'],
        message: `without API_KEYS, ADMIN_API_KEYS or API_KEYS_FILE only a loopback address is served, not ${config.HOST}`,
      });
    }
  })
  .transform((config) => ({ ...config, SPOOL_DIR: config.SPOOL_DIR ?? join(config.DATA_DIR, 'spool') }));
export type GatewayConfig = z.infer<typeof GatewayConfig>;
