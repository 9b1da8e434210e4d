import { fault, ok, warning, type Finding } from './finding';

export interface Place {
  readonly source: 'DATABASE_URL' | 'embedded';
  readonly host: string;
  readonly database: string;
  readonly user: string;
}

const CHECK = 'database';
const AWAY = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ETIMEDOUT', 'ECONNRESET'];

/** Why a database takes no connection, or no query. @param code SQLSTATE or Node's; never shows a password */
export function databaseRefusal(
  { source, host, database, user }: Place,
  code: string | null,
  message: string,
): Finding {
  if (code === '28P01' || code === '28000')
    return fault(
      CHECK,
      `${host} refuses the user ${user}: ${message}`,
      source === 'DATABASE_URL'
        ? `Correct user and password in DATABASE_URL, or give the user that password: ALTER ROLE "${user}" PASSWORD '…'.`
        : 'Another server has taken the port of the embedded one; stop it, or set DATABASE_URL.',
    );
  if (code === '3D000')
    return fault(
      CHECK,
      `${host} has no database ${database}`,
      `Make it: createdb -h ${host.split(':')[0]} ${database}; or correct DATABASE_URL.`,
    );
  if (code === '53300')
    return fault(
      CHECK,
      `${host} has no connection left`,
      'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_SIZE.',
    );
  if ((code !== null && AWAY.includes(code)) || /timeout/i.test(message))
    return fault(
      CHECK,
      `${host} does not answer (${code ?? message})`,
      'Start PostgreSQL, or correct DATABASE_URL; unset, the dispatcher starts its own.',
    );
  if (code === '42501')
    return fault(
      CHECK,
      `${user} may not read the tables: ${message}`,
      `Give it the rights: GRANT ALL ON ALL TABLES IN SCHEMA public TO "${user}".`,
    );
  return fault(CHECK, `${host}: ${message}`, 'Correct DATABASE_URL, or see the log of PostgreSQL.');
}

/** @param version server_version_num, 160002 */
export function versionFinding({ source, host, database }: Place, version: number): Finding {
  const found = `${source === 'embedded' ? 'the embedded one' : `${database} at ${host}`} answers, PostgreSQL ${Math.floor(version / 10_000)}`;
  return version >= 130_000 ? ok(CHECK, found) : fault(CHECK, found, 'Use PostgreSQL 13 or newer.');
}

/** @param applied migrations that the tables have; `null`: there are no tables */
export function tablesFinding(applied: readonly string[] | null, wanted: readonly string[]): Finding {
  const check = 'database: tables';
  const missing = wanted.filter((name) => !(applied ?? []).includes(name));
  const newer = (applied ?? []).filter((name) => !wanted.includes(name));
  if (applied === null)
    return warning(
      check,
      'none yet',
      'Nothing has to be done: the dispatcher makes them when it starts. Before that: npx hindcast migrate.',
    );
  if (missing.length > 0)
    return warning(
      check,
      `without ${missing.join(', ')}`,
      'Run npx hindcast migrate, or start a dispatcher of this version.',
    );
  if (newer.length > 0)
    return warning(
      check,
      `of a newer version: ${newer.join(', ')}`,
      'Update this checkout to the version of the dispatchers.',
    );
  return ok(check, `up to date, ${wanted.length} migrations`);
}
