import { z } from 'zod';

/** Requests and tokens per minute; `null` is no limit. */
export interface Limits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Who calls, as the API key says. */
export interface Caller {
  /** Name of the key; limits are counted by it. */
  readonly name: string;
  readonly tenant: string;
  readonly limits: Limits;
  /** Sees every tenant and may change what serves. */
  readonly isAdmin: boolean;
}

/** An API key as it is configured. Only its hash is known. */
export interface ApiKey extends Caller {
  /** SHA-256 of the key, lower-case hex. */
  readonly sha256: string;
  /** Milliseconds since the epoch from which it is refused; `null`: never. */
  readonly expiresAt: number | null;
}

/** A key that is configured without limits of its own. */
export type NamedKey = Omit<ApiKey, 'limits'>;

const NAME = /^[^:\s]{1,128}$/;
const HASH = /^[0-9a-fA-F]{64}$/;

/** `name:sha256hex`; the name is the tenant. @throws RangeError for anything else, without what was given. */
export const parseApiKey = (entry: string): NamedKey => parseNamedKey(entry, false);

/** {@link parseApiKey} of an administrator's key. */
export const parseAdminKey = (entry: string): NamedKey => parseNamedKey(entry, true);

function parseNamedKey(entry: string, isAdmin: boolean): NamedKey {
  const [name, hash, ...rest] = entry.split(':');
  if (!NAME.test(name!) || !HASH.test(hash ?? '') || rest.length > 0)
    throw new RangeError('an API key is given as name:sha256hex');
  return { name: name!, tenant: name!, sha256: hash!.toLowerCase(), expiresAt: null, isAdmin };
}

const limit = z.int('a whole number is needed').positive('a number above 0 is needed').nullable().optional();
const name = z.string('a name is needed').regex(NAME, '1 to 128 characters without white space and colon are needed');

const KeyFile = z.strictObject({
  keys: z.array(
    z.strictObject({
      name,
      sha256: z.string('a hash is needed').regex(HASH, 'the SHA-256 of the key is needed, 64 hex digits'),
      tenant: name.optional(),
      requestsPerMinute: limit,
      tokensPerMinute: limit,
      admin: z.boolean('true or false is needed').default(false),
      expiresAt: z.iso.datetime({ offset: true, error: 'an ISO 8601 time with a time zone is needed' }).optional(),
    }),
    'a list of keys is needed',
  ),
});

/**
 * Keys of a keys file; a limit that it does not give is `defaults`'.
 *
 * @throws RangeError that names what is wrong, and nothing of what the file holds
 */
export function parseKeyFile(text: string, defaults: Limits): readonly ApiKey[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    throw new RangeError('it is not JSON');
  }
  const parsed = KeyFile.safeParse(json);
  if (!parsed.success) throw new RangeError(parsed.error.issues.map(described).join('; '));
  return parsed.data.keys.map((key) => ({
    name: key.name,
    tenant: key.tenant ?? key.name,
    sha256: key.sha256.toLowerCase(),
    isAdmin: key.admin,
    expiresAt: key.expiresAt === undefined ? null : Date.parse(key.expiresAt),
    limits: {
      requestsPerMinute: key.requestsPerMinute === undefined ? defaults.requestsPerMinute : key.requestsPerMinute,
      tokensPerMinute: key.tokensPerMinute === undefined ? defaults.tokensPerMinute : key.tokensPerMinute,
    },
  }));
}

/** An unknown field may be a key that stands in the wrong place: its name is not repeated. */
function described({ code, path, message }: z.core.$ZodIssue): string {
  const where = path.length === 0 ? '' : `${path.join('.')}: `;
  return where + (code === 'unrecognized_keys' ? 'there is a field that is not known' : message);
}

/**
 * All keys that are in force. Keys of one name have one tenant and one set of limits; those of a name that stands in both
 * sources are the file's. One of a name's keys may be an administrator's and another not; one key that stands there twice is an
 * administrator's when either says so.
 *
 * @throws RangeError when keys contradict each other
 */
export function keysInForce(
  environment: readonly NamedKey[],
  file: readonly ApiKey[],
  defaults: Limits,
): readonly ApiKey[] {
  const limits = new Map(file.map((key) => [key.name, key.limits]));
  const keys = [...environment.map((key): ApiKey => ({ ...key, limits: limits.get(key.name) ?? defaults })), ...file];
  const byName = new Map<string, ApiKey>();
  const byHash = new Map<string, ApiKey>();
  for (const [index, key] of keys.entries()) {
    const [sameName, sameHash] = [byName.get(key.name) ?? key, byHash.get(key.sha256) ?? key];
    // Names are not repeated: one may be a key that stands in the wrong place.
    const where = index < environment.length ? '' : `keys.${index - environment.length}: `;
    if (sameHash.name !== key.name) throw new RangeError(`${where}the same key has another name too`);
    if (sameName.tenant !== key.tenant) throw new RangeError(`${where}another key of this name has another tenant`);
    if (!areEqual(sameName.limits, key.limits))
      throw new RangeError(`${where}another key of this name has other limits`);
    byName.set(key.name, key);
    byHash.set(key.sha256, { ...key, isAdmin: key.isAdmin || sameHash.isAdmin });
  }
  return [...byHash.values()];
}

const areEqual = (a: Limits, b: Limits): boolean =>
  a.requestsPerMinute === b.requestsPerMinute && a.tokensPerMinute === b.tokensPerMinute;

/** The token of `Authorization: Bearer …`; `null` when there is none. */
export const bearerToken = (header: string | undefined): string | null =>
  /^Bearer +(\S+)\s*$/i.exec(header ?? '')?.[1] ?? null;

/** The keys that a request shows, `Authorization: Bearer` before `x-api-key`: Anthropic's clients may send both. */
export function shownKeys(headers: Readonly<Record<string, unknown>>): readonly string[] {
  const { authorization, 'x-api-key': apiKey } = headers;
  const bearer = bearerToken(typeof authorization === 'string' ? authorization : undefined);
  const plain = typeof apiKey === 'string' ? apiKey.trim() : '';
  return [bearer, plain].filter((key): key is string => key !== null && key !== '');
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
