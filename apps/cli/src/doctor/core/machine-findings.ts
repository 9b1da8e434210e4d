import { fault, ok, warning, type Finding } from './finding';

const GIB = 1024 ** 3;

/** @param version of Node, `20.19.0` */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok('node', version);
  return fault('node', `${version} is too old`, 'Install Node 20.19 or newer (nodejs.org, or your version manager).');
}

/** @param free bytes */
export function diskFinding(folder: string, free: number): Finding {
  const room = `${(free / GIB).toFixed(1)} GiB free for ${folder}`;
  const mend =
    'Make room, or put DATA_DIR, POLICY_DIR or SPOOL_DIR on another disk; KEEP_VERSIONS says how many versions are kept.';
  if (free < GIB / 4) return fault('disk', room, mend);
  return free < 2 * GIB ? warning('disk', room, mend) : ok('disk', room);
}

/** Clocks that are further apart make ages, expiry and the order of logs wrong. */
const APART_MS = 5_000;

/** @param clocks by whose it is, each against this machine's, ms; `null` where it could not be read */
export function clockFinding(clocks: Readonly<Record<string, number | null>>): Finding {
  const known = Object.entries(clocks).filter((entry): entry is [string, number] => entry[1] !== null);
  const apart = known.filter(([, ms]) => Math.abs(ms) > APART_MS);
  if (known.length === 0)
    return { check: 'clocks', grade: 'skipped', found: 'nothing answers that has one', mend: null };
  if (apart.length === 0)
    return ok('clocks', `${known.map(([name]) => name).join(', ')}: within ${APART_MS / 1000} s of this machine`);
  const said = apart.map(
    ([name, ms]) => `${name} is ${Math.round(Math.abs(ms) / 1000)} s ${ms > 0 ? 'ahead' : 'behind'}`,
  );
  return warning('clocks', said.join(', '), 'Let every machine take its time from NTP (timedatectl set-ntp true).');
}
