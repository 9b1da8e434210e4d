import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A package folder of its own, no workspace: nothing of it reaches the product. */
const FOLDER = join(__dirname, '../../bench/portkey');
const INSTALLED = join(FOLDER, 'node_modules', '.package-lock.json');

/** Installs the other gateway on the first run. @throws with what to do where that is not possible. */
export function ensurePortkey(say: (text: string) => void): void {
  const lock = join(FOLDER, 'package-lock.json');
  if (existsSync(INSTALLED) && statSync(INSTALLED).mtimeMs >= statSync(lock).mtimeMs) return;
  say('Installing @portkey-ai/gateway for the comparison (npm ci, some seconds)…');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync(npm, args, { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (status !== 0)
    throw new Error(
      '@portkey-ai/gateway could not be installed; without a network measure the others: --targets direct,hindcast',
    );
}

export const portkeyMain = join(FOLDER, 'node_modules/@portkey-ai/gateway/build/start-server.js');

/** Its way to a server of one's own: a provider's protocol at another address. */
export const portkeyHeaders = (engineUrl: string): Record<string, string> => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': engineUrl,
  authorization: 'Bearer none',
});
