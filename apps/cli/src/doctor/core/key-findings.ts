import { fault, ok, warning, type Finding } from './finding';

export interface KeyFile {
  readonly path: string;
  /** What is wrong with it; `null`: nothing. */
  readonly problem: string | null;
  readonly keys: number;
  readonly admins: number;
}

const CHECK = 'keys';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;
const FORM = /^[^:\s]{1,128}:[0-9a-f]{64}$/i;
const HASH = `node -p "crypto.createHash('sha256').update('the key').digest('hex')"`;

/** Whether HOST and the keys go together. Shows no key and no hash. */
export function keysFinding({
  host,
  keys,
  adminKeys,
  file,
}: {
  readonly host: string;
  readonly keys: string | undefined;
  readonly adminKeys: string | undefined;
  readonly file: KeyFile | null;
}): Finding {
  if (file?.problem)
    return fault(CHECK, `${file.path} ${file.problem}`, 'Correct API_KEYS_FILE; docs/keys.md shows the form.');
  const listed = { API_KEYS: entriesOf(keys), ADMIN_API_KEYS: entriesOf(adminKeys) };
  const broken = Object.entries(listed).find(([, entries]) => entries.some((entry) => !FORM.test(entry)));
  if (broken)
    return fault(
      CHECK,
      `an entry of ${broken[0]} is no name:sha256hex`,
      `Write each as name:hash; the hash of a key is what ${HASH} prints.`,
    );
  const admins = listed.ADMIN_API_KEYS.length + (file?.admins ?? 0);
  const all = listed.API_KEYS.length + listed.ADMIN_API_KEYS.length + (file?.keys ?? 0);
  const isLoopback = LOOPBACK.test(host);
  if (all === 0 && file === null)
    return isLoopback
      ? ok(CHECK, `none are needed: HOST=${host} is reached from this machine alone`)
      : fault(
          CHECK,
          `none, and HOST=${host} is reached from elsewhere: the gateway does not start`,
          'Set API_KEYS=name:sha256hex (docs/keys.md), or HOST=127.0.0.1.',
        );
  if (admins === 0)
    return warning(
      CHECK,
      `${all} keys, none of them an administrator's`,
      'Set ADMIN_API_KEYS=name:sha256hex for the dashboard, status and turns.',
    );
  return ok(CHECK, `${all} keys, ${admins} of them administrators', HOST=${host}`);
}

const entriesOf = (list: string | undefined): string[] =>
  (list ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
