/** What a request says of where it comes from. */
export interface AskedFrom {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: a browser's word, which no page can change. */
  readonly fetchSite: string | undefined;
  readonly contentType: string | undefined;
}

/** They change nothing. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Why a request to an administrator's route is refused whoever sends it; `null` where it is not.
 *
 * A page of another origin may make a browser send anything; where no key is asked for, also anything that counts. What it cannot do is
 * name the gateway's own origin as its own, or a loopback name while its own name leads to a loopback address.
 *
 * @param isOpen nobody is asked for a key
 */
export function strangeness(asked: AskedFrom, isOpen: boolean): string | null {
  if (isOpen && !isLoopbackName(asked.host))
    return 'without API keys the gateway is asked by a loopback name only, such as localhost';
  const isRead = READS.has(asked.method);
  if ((isOpen || !isRead) && !isSameOrigin(asked)) return 'a page of another origin may not do this';
  if (!isRead && !isJson(asked.contentType)) return 'the body must be sent with content-type: application/json';
  return null;
}

/** Whoever is no browser sends neither header. */
function isSameOrigin({ fetchSite, origin, host }: AskedFrom): boolean {
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

const isJson = (contentType: string | undefined): boolean => /^application\/json\s*(;|$)/i.test(contentType ?? '');

/** @param host the header `Host`: a name or an address, with or without a port */
function isLoopbackName(host: string | undefined): boolean {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}
