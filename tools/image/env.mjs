// `npm run image -- env`: the secrets that compose.yaml asks for.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';

/** Letters in front: a broker's configuration would read digits as a number. */
const password = () => `pw${randomBytes(24).toString('hex')}`;

/**
 * Writes random secrets to a file that only its owner reads, and keeps one that is there.
 *
 * @returns {string} the key for clients, which is nowhere but here: the file has its hash
 * @throws Error when the file exists
 */
export function writeEnv(file) {
  if (existsSync(file)) throw new Error(`${file} is there already; its secrets are those of the volumes`);
  const key = `sk-${randomBytes(24).toString('hex')}`;
  const lines = {
    POSTGRES_PASSWORD: password(),
    NATS_PASSWORD: password(),
    SESSION_SECRET: password(),
    API_KEYS: `default:${createHash('sha256').update(key).digest('hex')}`,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, text.join(''), { mode: 0o600, flag: 'wx' });
  return key;
}
