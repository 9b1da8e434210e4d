/** Owner of an API key and the SHA-256 of the key, hex. */
export interface ApiKey {
  readonly tenant: string;
  readonly sha256: string;
}

/** `name:sha256hex`. @throws RangeError for anything else. */
export function parseApiKey(entry: string): ApiKey {
  const match = /^([^:\s]{1,128}):([0-9a-fA-F]{64})$/.exec(entry);
  if (!match) throw new RangeError('an API key is given as name:sha256hex');
  return { tenant: match[1]!, sha256: match[2]!.toLowerCase() };
}

/** The token of `Authorization: Bearer …`; `null` when there is none. */
export const bearerToken = (header: string | undefined): string | null =>
  /^Bearer +(\S+)\s*$/i.exec(header ?? '')?.[1] ?? null;

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
