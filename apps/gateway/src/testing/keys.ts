import { createHash } from 'node:crypto';

/** An entry of the keys file. */
export interface KeyEntry {
  readonly name: string;
  readonly sha256: string;
  readonly [field: string]: unknown;
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** An entry of `API_KEYS`. */
export const keyOf = (name: string, key: string): string => `${name}:${sha256(key)}`;

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

export const named = (name: string, key: string, more: object = {}): KeyEntry => ({
  name,
  sha256: sha256(key),
  ...more,
});

/** The text of a keys file. */
export const fileOf = (...keys: KeyEntry[]): string => JSON.stringify({ keys });
