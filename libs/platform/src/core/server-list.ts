/** One server of NATS as `NATS_URL` names it. */
export interface ServerAddress {
  /** Without credentials: `nats://host:port` or `tls://host:port`. */
  readonly url: string;
  readonly isTls: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

const FORM = 'one or more of nats://host:port or tls://host:port, separated by commas';

/**
 * The servers of a list, which share one user.
 *
 * @throws RangeError that says what is wrong, and shows nothing of what may be a password
 */
export function readServers(list: string): ServerAddress[] {
  const servers = list.split(',').map((entry) => readServer(entry.trim()));
  const users = new Set(
    servers.flatMap(({ credentials }) =>
      credentials ? [JSON.stringify([credentials.user, credentials.password])] : [],
    ),
  );
  if (users.size > 1) throw new RangeError('the servers have different users; they are one cluster with the same ones');
  return servers;
}

/** The list as it may be shown, whether it can be read or not: up to the last @ of an entry anything may be a password. */
export function shownServers(list: string): string {
  return list
    .split(',')
    .map((entry) => entry.replace(/^(\s*[a-z][\w+.-]*:\/\/)?[^]*@/i, '$1***@'))
    .join(',');
}

function readServer(entry: string): ServerAddress {
  const [, scheme = 'nats', rest = ''] = /^(?:([a-z][\w+.-]*):\/\/)?([^]*)$/i.exec(entry)!;
  const protocol = scheme.toLowerCase();
  if (protocol !== 'nats' && protocol !== 'tls') throw new RangeError(`${FORM}; not ${protocol}://`);
  const [host = '', login, ...more] = rest.split('@').reverse();
  if (more.length > 0 || /[\s/?#]/.test(login ?? ''))
    throw new RangeError('a user or password with @ / ? # or a space has these as %40 %2F %3F %23 %20');
  const url = `${protocol}://${host.replace(/\/$/, '')}`;
  if (!URL.canParse(url) || new URL(url).hostname === '' || /[\s/?#]/.test(url.slice(url.indexOf('//') + 2)))
    throw new RangeError(FORM);
  return { url, isTls: protocol === 'tls', credentials: login === undefined ? null : credentialsOf(login) };
}

function credentialsOf(login: string): { user: string; password: string } {
  const [user = '', ...password] = login.split(':');
  if (user === '' || password.length === 0 || password.join(':') === '')
    throw new RangeError('a user and a password stand before the @, as in nats://user:password@host:4222');
  try {
    return { user: decodeURIComponent(user), password: decodeURIComponent(password.join(':')) };
  } catch {
    throw new RangeError('a % in a user or password is written %25');
  }
}
