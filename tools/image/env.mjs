// `npm run image -- env`: the secrets that compose.yaml asks for.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';

/** Letters in front: a broker's configuration would read digits as a number. */
const password = () => `pw${randomBytes(24).toString('hex')}`;

const newKey = () => `sk-${randomBytes(24).toString('hex')}`;
const hashOf = (key) => createHash('sha256').update(key).digest('hex');

/**
 * Writes random secrets to a file that only its owner reads, and keeps one that is there.
 *
 * @returns {{ key: string, adminKey: string }} the key for clients and the administrator's, which are nowhere but here: the file has their hashes
 * @throws Error when the file exists
 */
export function writeEnv(file) {
  if (existsSync(file)) throw new Error(`${file} is there already; its secrets are those of the volumes`);
  const [key, adminKey] = [newKey(), newKey()];
  const lines = {
    POSTGRES_PASSWORD: password(),
    NATS_PASSWORD: password(),
    SESSION_SECRET: password(),
    API_KEYS: `default:${hashOf(key)}`,
    ADMIN_API_KEYS: `admin:${hashOf(adminKey)}`,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, text.join(''), { mode: 0o600, flag: 'wx' });
  return { key, adminKey };
}
