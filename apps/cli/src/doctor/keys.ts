import { existsSync, readFileSync } from 'node:fs';
import { keysFinding, type KeyFile } from './core/key-findings';
import type { Finding } from './core/finding';
import { folderOf, type Settings } from './settings';

/** Who may use the gateway, and from where. */
export function checkKeys({ gateway }: Settings): Finding[] {
  const { HOST, API_KEYS, ADMIN_API_KEYS, API_KEYS_FILE } = gateway;
  return [keysFinding({ host: HOST, keys: API_KEYS, adminKeys: ADMIN_API_KEYS, file: keyFile(API_KEYS_FILE) })];
}

function keyFile(path: string | undefined): KeyFile | null {
  if (path === undefined) return null;
  const file = folderOf(path);
  if (!existsSync(file)) return { path: file, problem: 'is not there', keys: 0, admins: 0 };
  try {
    const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys?: { admin?: unknown }[] };
    if (!Array.isArray(keys)) return { path: file, problem: 'has no list "keys"', keys: 0, admins: 0 };
    return { path: file, problem: null, keys: keys.length, admins: keys.filter(({ admin }) => admin === true).length };
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'is no JSON' : 'cannot be read';
    return { path: file, problem, keys: 0, admins: 0 };
  }
}
