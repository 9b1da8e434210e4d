/** What a page of an allowed origin may read of an answer, beside what every page may. */
const EXPOSED = [
  'x-hindcast-turn-id',
  'x-hindcast-turn-ids',
  ...['requests', 'tokens'].flatMap((unit) =>
    ['limit', 'remaining', 'reset'].map((kind) => `x-ratelimit-${kind}-${unit}`),
  ),
  'retry-after',
  'x-request-id',
];
const PREFLIGHT_SECONDS = 600;

/** One exact origin: scheme, host and port, as a browser sends it. @throws RangeError for anything else. */
export function parseOrigin(entry: string): string {
  const isExact =
    !entry.includes('*') &&
    URL.canParse(entry) &&
    /^https?:$/.test(new URL(entry).protocol) &&
    new URL(entry).origin === entry;
  if (!isExact)
    throw new RangeError('an origin is given as https://host or http://host:port, without a path or pattern');
  return entry;
}

/**
 * CORS headers for an answer, or `null` where the origin is not one of those allowed. No credentials: a key is sent by the page
 * itself, never by the browser.
 *
 * @param preflight headers that the page wants to send; `null` when the request is no preflight
 */
export function corsHeaders(
  allowed: readonly string[],
  origin: string | undefined,
  preflight: string | null,
): Record<string, string> | null {
  if (origin === undefined || !allowed.includes(origin)) return null;
  const headers = { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED.join(', ') };
  if (preflight === null) return headers;
  return {
    ...headers,
    'access-control-allow-methods': 'GET, POST',
    // OpenAI's and Anthropic's clients send many headers of their own.
    ...(preflight !== '' && { 'access-control-allow-headers': preflight }),
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}
