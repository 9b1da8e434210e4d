import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { root } from './root';

export type Env = Readonly<Record<string, string | undefined>>;

/** Where `npm start` keeps everything, and what every other start uses unless DATA_DIR says otherwise. */
const DATA_DIRS = ['.data/one-machine', '.data'];

/** The data folder that is meant: the one that is named, else the first in which `npm start` wrote its settings down. */
export function dataFolder(env: Env, named: string | undefined): string {
  const folder =
    named ?? (env['DATA_DIR'] || (DATA_DIRS.find((dir) => existsSync(resolve(root, dir, 'env'))) ?? '.data'));
  return resolve(root, folder);
}

/** What `npm start` wrote down for an app; nothing where it never did. */
export function writtenSettings(folder: string, app: string): Env {
  const file = join(folder, 'env', `${app}.env`);
  return existsSync(file) ? present(parseEnv(readFileSync(file, 'utf8')) as Env) : {};
}

/** Whether a server's base URL is the one that `npm start` gave its own. */
export const isOfNpmStart = (folder: string, app: 'engine' | 'demo-judge', baseUrl: string): boolean => {
  const port = writtenSettings(folder, app)['PORT'];
  return port !== undefined && baseUrl === `http://127.0.0.1:${port}/v1`;
};

/** An empty variable counts as unset. */
export const present = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));

/** Where `npm start` has its gateway, else the port that every gateway has unless it is told otherwise. */
export function gatewayUrl(env: Env): string {
  const written = writtenSettings(dataFolder(env, undefined), 'gateway');
  return `http://127.0.0.1:${written['PORT'] ?? '8080'}`;
}
