// `npm run image -- start`: runs a pruned folder as its image runs.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { inherited, pairs, readDockerfile } from './dockerfile.mjs';
import { imageOf, USER } from './images.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const SANDBOX = join(HERE, 'sandbox.sh');
/** Variables that the Dockerfile sets for a service itself; the others are of the base image. */
const SERVICE_VARIABLES = ['BACKEND', 'MODEL_DIR', 'POLICY_DIR'];

/**
 * What this machine can keep a process from writing to: with `sandbox` everything but its own folders, with `account` what is root's, the pruned
 * folder among it, with `none` nothing.
 */
export function isolation() {
  if (process.getuid?.() !== 0) return 'none';
  const canMount = spawnSync('unshare', ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
    stdio: 'ignore',
  });
  return canMount.status === 0 ? 'sandbox' : 'account';
}

/** Where an image's folders are, for the isolation; `/app` and so on in a root of its own. */
function placesOf({ kind, folder, data, policies, models }) {
  if (kind === 'sandbox') return { app: '/app', data: '/data', policies: '/policies', models: '/models', tmp: '/tmp' };
  return { app: folder, data, policies, models, tmp: join(data, '.tmp') };
}

/** The image's own settings, its folders where this isolation has them; without a folder of models nothing is said of one. */
function settingsOf(name, places) {
  const { stages } = readDockerfile(readFileSync(join(HERE, '../../Dockerfile'), 'utf8'));
  const stage = stages.find((candidate) => candidate.name === name);
  const set = inherited(stages, stage).flatMap((one) => (one.name === 'ENV' ? pairs(one.words) : []));
  const placed = (value) => value.replace(/^\/(models|policies)(?=\/|$)/, (_, place) => places[place] ?? `/${place}`);
  return Object.fromEntries(
    set
      .filter(([key]) => SERVICE_VARIABLES.includes(key))
      .map(([key, value]) => [key, placed(value)])
      .filter(([key]) => key !== 'MODEL_DIR' || places.models !== undefined),
  );
}

/**
 * Starts one file of a pruned folder.
 *
 * @param {{ name: string, folder: string, data: string, policies: string, models?: string, env?: Record<string, string>, file?: string, args?: string[], kind?: 'sandbox' | 'account' | 'none', stdio?: import('node:child_process').StdioOptions }} options
 *   `env` may say `{models}` and `{policies}` for where those folders are seen; nothing of this process's environment is handed on
 * @returns {{ child: import('node:child_process').ChildProcess, kind: string, cleanUp: () => void }}
 */
export function start({ name, folder, data, policies, models, env = {}, file, args = [], kind = isolation(), stdio }) {
  const image = imageOf(name);
  for (const writable of [data, policies]) {
    mkdirSync(writable, { recursive: true });
    if (process.getuid?.() === 0) chownSync(writable, USER.uid, USER.gid);
  }
  if (!existsSync(folder)) throw new Error(`${folder} is not there (npm run image -- prune)`);
  const places = placesOf({
    kind,
    folder: resolve(folder),
    data: resolve(data),
    policies: resolve(policies),
    models: models && resolve(models),
  });
  const main = file ?? join('apps', image.app, 'dist/main.js');
  const environment = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    NODE_ENV: 'production',
    PORT: String(image.port),
    DATA_DIR: places.data,
    HOME: '/nonexistent',
    TMPDIR: places.tmp,
    ...settingsOf(name, places),
    ...Object.fromEntries(
      Object.entries(env).map(([key, value]) => [
        key,
        value.replaceAll('{models}', places.models ?? '').replaceAll('{policies}', places.policies),
      ]),
    ),
  };
  const root = kind === 'sandbox' ? mkdtempSync(join(tmpdir(), 'hindcast-root-')) : null;
  if (kind !== 'sandbox') {
    mkdirSync(places.tmp, { recursive: true });
    if (process.getuid?.() === 0) chownSync(places.tmp, USER.uid, USER.gid);
  }
  const [command, commandArgs, options] =
    root === null
      ? [process.execPath, [main, ...args], { cwd: places.app, ...(kind === 'account' ? USER : {}) }]
      : [
          'unshare',
          [
            '--mount',
            '--pid',
            '--fork',
            '--kill-child',
            SANDBOX,
            root,
            resolve(folder),
            resolve(data),
            resolve(policies),
            models ? resolve(models) : '-',
            USER.uid,
            USER.gid,
            process.execPath,
            main,
            ...args,
          ].map(String),
          { cwd: '/' },
        ];
  const child = spawn(command, commandArgs, {
    ...options,
    env: environment,
    stdio: stdio ?? ['ignore', 'pipe', 'pipe'],
  });
  return { child, kind, cleanUp: () => root !== null && rmSync(root, { recursive: true, force: true }) };
}

/** Process id of the service itself, as this machine sees it: in a sandbox it is `unshare`'s child. */
export function servicePid(child) {
  if (!child.spawnargs[0].endsWith('unshare')) return child.pid;
  const list = `/proc/${child.pid}/task/${child.pid}/children`;
  const pid = existsSync(list) ? Number(readFileSync(list, 'utf8').split(' ')[0]) : 0;
  return pid > 0 ? pid : null;
}
