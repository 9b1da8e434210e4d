import { HindcastError, type Setting } from '@hindcast/contracts';
import { z } from 'zod';
import { readServers, shownServers } from './core/server-list';
import { isSecretName, shownText, textOf, withoutLogins } from './core/shown-value';

const secretSchemas = z.registry<{ secret: true }>();

/** A string that must never be logged: {@link resolvedConfigForLog} prints `***` in its place. */
export const secret = z.string().register(secretSchemas, { secret: true });

/** `1 true yes on` / `0 false no off`, in any case. */
export const booleanFlag = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.enum(['1', 'true', 'yes', 'on', '0', 'false', 'no', 'off']))
  .transform((flag) => ['1', 'true', 'yes', 'on'].includes(flag));

/** `a, b,c` → `['a', 'b', 'c']`; at least one entry. */
export const commaList = z
  .string()
  .transform((list) =>
    list
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  )
  .pipe(z.array(z.string()).min(1));

/** One HTTP base URL, without the slashes at its end. */
export const baseUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

/** What every app is configured by. `PORT=0` takes a free port. */
export const CommonConfig = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  /** One or more servers, separated by commas. */
  NATS_URL: z
    .string()
    .superRefine((list, context) => {
      try {
        readServers(list);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
      }
    })
    .default('nats://127.0.0.1:4222'),
  /** User of the message bus; needs NATS_PASSWORD. */
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: secret.optional(),
  /** PEM file of the authority that signed the certificates of the servers. Set: only TLS will do, as with tls:// in NATS_URL. */
  NATS_CA_FILE: z.string().optional(),
  /** Replicas of every stream and bucket. More than one needs a cluster. */
  NATS_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  DATA_DIR: z.string().default('.data'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** A message that came more often is dead-lettered instead of handled. */
  MAX_DELIVERIES: z.coerce.number().int().min(1).default(10),
  /** A message whose worker was not heard of for this long is handed to another one. Workers are heard of every third of it. */
  ACK_WAIT_SECONDS: z.coerce.number().min(1).max(3_600).default(30),
  /** After SIGTERM new requests are still answered for so long, while `/readyz` says no: time for a load balancer to look elsewhere. */
  SHUTDOWN_DELAY_SECONDS: z.coerce.number().min(0).max(3_600).default(0),
  /** How long handlers and open requests may then go on. */
  SHUTDOWN_SECONDS: z.coerce.number().min(0).max(86_400).default(25),
  /** Where traces go, under OpenTelemetry's own names (docs/tracing.md). With none of these nothing is traced. */
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'console', 'none']).optional(),
  OTEL_SDK_DISABLED: booleanFlag.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/protobuf', 'http/json']).optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.enum(['http/protobuf', 'http/json']).optional(),
  /** Read by the SDK; declared so that a mistake is found at the start. */
  OTEL_EXPORTER_OTLP_HEADERS: secret.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: secret.optional(),
  OTEL_EXPORTER_OTLP_CERTIFICATE: z.string().optional(),
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(['gzip', 'none']).optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(1).optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).optional(),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(1).optional(),
  OTEL_BSP_EXPORT_TIMEOUT: z.coerce.number().int().min(1).optional(),
  OTEL_BSP_MAX_QUEUE_SIZE: z.coerce.number().int().min(1).optional(),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: z.coerce.number().int().min(1).optional(),
});
export type CommonConfig = z.infer<typeof CommonConfig>;

/** {@link CommonConfig} with the app's own default port. */
export function commonConfig(defaultPort: number): typeof CommonConfig {
  return CommonConfig.extend({ PORT: z.coerce.number().int().min(0).max(65_535).default(defaultPort) });
}

/** What a parsed configuration does not say itself. */
interface Origin {
  /** Every variable of the schema. */
  readonly names: readonly string[];
  readonly secrets: ReadonlySet<string>;
  /** Variables that the environment held. */
  readonly given: ReadonlySet<string>;
}

const origins = new WeakMap<object, Origin>();

/**
 * Parses the environment once. An empty variable counts as unset.
 *
 * @throws HindcastError `config-invalid` that lists every mistake.
 */
export function parseConfig<S extends z.ZodType>(
  app: string,
  schema: S,
  env: Record<string, string | undefined>,
): Readonly<z.infer<S>> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(present);
  const issues = parsed.success ? [] : parsed.error.issues;
  const mistakes = [
    ...issues.map((issue) => `  ${issue.path.join('.') || '(all)'}: ${issue.message}`),
    ...halfCredentials(present),
  ];
  if (!parsed.success || mistakes.length > 0) {
    throw new HindcastError(
      'config-invalid',
      [`${app} cannot start, its configuration has mistakes:`, ...mistakes].join('\n'),
    );
  }
  const config = Object.freeze(parsed.data as object);
  const names = Object.keys(shapeOf(schema));
  origins.set(config, { names, secrets: secretNames(schema), given: new Set(Object.keys(present)) });
  return config as Readonly<z.infer<S>>;
}

/** Here and not in {@link CommonConfig}: a refined schema cannot be extended by the apps. */
function halfCredentials(env: Record<string, string | undefined>): string[] {
  const [given, missing] = env['NATS_USER'] === undefined ? ['PASSWORD', 'USER'] : ['USER', 'PASSWORD'];
  if (env[`NATS_${given}`] === undefined || env[`NATS_${missing}`] !== undefined) return [];
  return [`  NATS_${missing}: is needed beside NATS_${given}`];
}

/** The config with secrets, and the credentials inside URLs, replaced by `***`. */
export function resolvedConfigForLog(config: object): Record<string, unknown> {
  const isSecret = secrecyOf(config);
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, shown(key, value, isSecret(key))]));
}

/** Every variable of a config that {@link parseConfig} made, in the order of its schema: for people, without secrets. */
export function settingsOf(config: object): Setting[] {
  const origin = origins.get(config);
  const isSecret = secrecyOf(config);
  const secrets = secretsOf(config);
  const values = config as Record<string, unknown>;
  return [...new Set([...(origin?.names ?? []), ...Object.keys(values)])].map((name) => {
    const text = textOf(values[name]);
    const value = text === null || isSecret(name) ? null : name === 'NATS_URL' ? shownServers(text) : text;
    return {
      name,
      value: value === null ? null : shownText(value, secrets),
      isSecret: isSecret(name),
      isSet: text !== null,
      isGiven: origin?.given.has(name) ?? false,
    };
  });
}

/** What must stand in no text about a service: the values of its secrets, and passwords inside its URLs. */
export function secretsOf(config: object): string[] {
  const isSecret = secrecyOf(config);
  const texts = Object.entries(config).map(([name, value]) => ({ name, text: textOf(value) ?? '' }));
  const secrets = texts.filter(({ name }) => isSecret(name)).map(({ text }) => text);
  return [...secrets, ...texts.flatMap(({ text }) => passwordsIn(text))].filter((secret) => secret !== '');
}

/** Passwords of the URLs in a text, as they are written and as they are meant. */
function passwordsIn(text: string): string[] {
  const written = [...text.matchAll(/\w+:\/\/[^\s,:@/]*:([^\s,]*)@/g)].map(([, password]) => password!);
  return written.flatMap((password) => {
    try {
      return [password, decodeURIComponent(password)];
    } catch {
      return [password];
    }
  });
}

function secrecyOf(config: object): (name: string) => boolean {
  const secrets = origins.get(config)?.secrets;
  return (name) => (secrets?.has(name) ?? false) || isSecretName(name);
}

function shown(key: string, value: unknown, isSecret: boolean): unknown {
  if (isSecret) return hidden(value);
  return key === 'NATS_URL' && typeof value === 'string' ? shownServers(value) : withoutCredentials(value);
}

const hidden = (value: unknown): unknown => (value === undefined || value === null ? value : '***');

function withoutCredentials(value: unknown): unknown {
  if (typeof value === 'string') return withoutLogins(value);
  if (Array.isArray(value)) return value.map(withoutCredentials);
  return value;
}

/** The variables of an app's schema that hold a secret. */
export function secretNames(schema: z.ZodType): ReadonlySet<string> {
  const fields = Object.entries(shapeOf(schema));
  const isSecret = (field: z.ZodType): boolean => unwrapped(field).some((inner) => isDeclaredSecret(inner));
  return new Set(fields.filter(([name, field]) => isSecret(field) || isSecretName(name)).map(([name]) => name));
}

/** `secret` itself, or what was made of it by further checks; `has` of the registry would know the first only. */
const isDeclaredSecret = (schema: z.ZodType): boolean => secretSchemas.get(schema)?.secret === true;

/** The variables of an app's schema. */
function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const object = unwrapped(schema).find((inner) => inner instanceof z.ZodObject);
  return ((object as z.ZodObject | undefined)?.shape ?? {}) as Record<string, z.ZodType>;
}

/** The schema and everything it wraps: optional, default, pipe, transform. */
function unwrapped(schema: z.ZodType): z.ZodType[] {
  const definition = schema.def as { innerType?: z.ZodType; in?: z.ZodType; out?: z.ZodType };
  const inner = [definition.innerType, definition.in, definition.out].filter((part) => part !== undefined);
  return [schema, ...inner.flatMap(unwrapped)];
}
