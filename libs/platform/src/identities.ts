import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HindcastError } from '@hindcast/contracts';

/** Where the key of the HMACs comes from: the variable, else a file in DATA_DIR. */
export interface IdentitySource {
  readonly SESSION_SECRET?: string | undefined;
  readonly DATA_DIR: string;
}

/** What stands for a client's session id outside the gateway: 32 hex digits, an HMAC-SHA-256 of tenant and id. */
export const sessionIdOf = (secret: Uint8Array, tenant: string, rawSessionId: string): string =>
  identity(secret, [tenant, rawSessionId]);

/** What stands for a client's user id outside the gateway; never equal to a session id, whatever both are called. */
export const userIdOf = (secret: Uint8Array, tenant: string, rawUserId: string): string =>
  identity(secret, ['user', tenant, rawUserId]);

/** The lengths of the lists differ by what they are about, so no list of one kind is spelled like one of another. */
const identity = (secret: Uint8Array, parts: readonly string[]): string =>
  createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex').slice(0, 32);

/** The key's file, beside the other data of the gateways. */
const keyPath = (dataDir: string): string => join(resolve(dataDir), 'session.key');

/**
 * The key for who must name the same sessions and users as the gateways did. Never made anew: a new one would name others.
 *
 * @throws HindcastError `config-invalid` when SESSION_SECRET is unset and DATA_DIR holds no key
 */
export function knownIdentitySecret({ SESSION_SECRET, DATA_DIR }: IdentitySource): Buffer {
  const secret = SESSION_SECRET ? Buffer.from(SESSION_SECRET) : readKey(keyPath(DATA_DIR));
  if (!secret)
    throw new HindcastError(
      'config-invalid',
      `there is no key of the gateways: set SESSION_SECRET as they have it, or DATA_DIR to theirs (${keyPath(DATA_DIR)} is missing)`,
    );
  return secret;
}

/** The key, made at the first start. Gateways that start together on one DATA_DIR agree on one: the first link wins. */
export function identitySecret({ SESSION_SECRET, DATA_DIR }: IdentitySource): Buffer {
  if (SESSION_SECRET) return Buffer.from(SESSION_SECRET);
  const path = keyPath(DATA_DIR);
  mkdirSync(resolve(DATA_DIR), { recursive: true });
  for (;;) {
    const secret = readKey(path);
    if (secret) return secret;
    const draft = `${path}.${process.pid}.part`;
    const file = openSync(draft, 'w', 0o600);
    writeSync(file, randomBytes(32).toString('hex'));
    fsyncSync(file);
    closeSync(file);
    try {
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

/** `null` when the file does not exist. */
function readKey(path: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const secret = Buffer.from(text.trim(), 'hex');
  if (secret.length < 16)
    throw new HindcastError('config-invalid', `${path} does not hold a key; remove it to get a new one`);
  return secret;
}
