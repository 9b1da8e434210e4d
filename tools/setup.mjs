// What a fresh machine lacks: the npm packages, the build, a nats-server. Node built-ins only, since nothing is installed yet.
// Progress goes to stderr; stdout belongs to the command that is set up.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStep } from './run-step.mjs';
import { takeLock } from './setup-lock.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (text) => process.stderr.write(`${text}\n`);

/** Ends the command with a message for a person and exit code 2. */
export function giveUp(message) {
  say(`\n${message}\n`);
  process.exit(2);
}

/** @param what said with the seconds that it has taken so far, while it takes long */
const run = (command, args, what = command) =>
  runStep(command, args, { cwd: root, onWaiting: (seconds) => say(`  … ${what}: ${seconds} s so far`) }).catch(
    (error) => giveUp(`${command} could not be started: ${error.message}`),
  );

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    giveUp(`Hindcast needs Node 20.19 or newer; this is ${process.versions.node}.`);
  }
}

const lockFile = join(root, 'package-lock.json');
const stamp = join(root, 'node_modules', '.hindcast-lock');
const installed = join(root, 'node_modules', '.package-lock.json');
const lockHash = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

const isStamped = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash();

/** Whether all packages of the lock file are there: an install that was cut is none, whatever files it left. */
function isInstalled() {
  // A lock older than what npm installed last means that somebody ran `npm ci` by hand.
  return isWhole() && (isStamped() || statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs);
}

/** npm's own list of what it has installed outlives packages that another npm, cut since then, has removed. */
export function isWhole() {
  try {
    const { packages } = JSON.parse(readFileSync(installed, 'utf8'));
    return Object.entries(packages).every(
      ([path, { link }]) => !path.includes('node_modules/') || existsSync(join(root, path, link ? '' : 'package.json')),
    );
  } catch {
    return false;
  }
}

/** Installs the packages when they are not all there, or when the lock file has changed since. One process at a time does. */
export async function ensureInstalled() {
  if (!isInstalled()) {
    const release = await takeLock(join(root, '.data', 'install.lock'), (pid) =>
      say(`Waiting for the packages, which process ${pid} installs…`),
    );
    try {
      if (!isInstalled()) await install();
    } finally {
      release();
    }
  }
  if (!isStamped()) writeFileSync(stamp, lockHash());
}

async function install() {
  say('Installing packages (npm ci)…');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const status = await run(npm, ['ci', '--no-progress', '--loglevel=error'], 'npm ci');
  if (status !== 0) giveUp('npm ci failed; see above.');
}

/** Compiles what changed (incremental). */
export async function ensureBuilt() {
  const generate = join(root, 'apps/dispatcher/prisma/generate.mjs');
  if (existsSync(generate) && (await run(process.execPath, [generate], 'prisma generate')) !== 0)
    giveUp('The Prisma client could not be generated; see above.');
  if (!existsSync(join(root, 'apps/simulator/dist/main.js')))
    say('Compiling; later starts compile only what has changed…');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  if ((await run(process.execPath, [tsc, '-b', 'tsconfig.build.json'], 'compiling')) !== 0)
    giveUp('The build failed; see above.');
  const dashboard = join(root, 'apps/dashboard/build.mjs');
  if (existsSync(dashboard) && (await run(process.execPath, [dashboard], 'the dashboard')) !== 0)
    giveUp('The dashboard could not be built; see above.');
}

/** Path of nats-server: `NATS_SERVER_BIN`, the PATH, or the usual folders outside it. */
export function findNatsServer() {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/bin',
    '/opt/homebrew/bin',
    join(process.env.HOME ?? '/', 'go/bin'),
  ];
  const candidates = [process.env.NATS_SERVER_BIN, ...folders.map((folder) => join(folder, 'nats-server'))];
  return candidates.find((path) => {
    try {
      accessSync(path ?? '', constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;

/** Finds nats-server or installs it through the system's package manager; else says exactly what to run. */
export async function ensureNatsServer() {
  const found = findNatsServer();
  if (found) return found;
  const asRoot =
    process.getuid?.() === 0
      ? []
      : has('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0
        ? ['sudo', '-n']
        : null;
  if (has('brew')) {
    say('Installing nats-server (brew)…');
    await run('brew', ['install', 'nats-server']);
  } else if (has('apt-get') && asRoot) {
    say('Installing nats-server (apt-get)…');
    const apt = (...args) =>
      run(asRoot[0] ?? 'apt-get', [...asRoot.slice(1), ...(asRoot.length ? ['apt-get'] : []), ...args], 'apt-get');
    if ((await apt('install', '-y', '-q', 'nats-server')) !== 0) {
      await apt('update', '-q');
      await apt('install', '-y', '-q', 'nats-server');
    }
  }
  return (
    findNatsServer() ??
    giveUp(
      [
        'Hindcast needs nats-server (JetStream), and it could not be installed here. Run one of these, then try again:',
        '  Debian, Ubuntu:  sudo apt-get install nats-server',
        '  macOS:           brew install nats-server',
        '  Go:              go install github.com/nats-io/nats-server/v2@latest',
        'or set NATS_SERVER_BIN to the path of a nats-server binary.',
      ].join('\n'),
    )
  );
}

/** Makes the checkout ready to run, from whatever state it is in. */
export async function prepare({ nats = true } = {}) {
  checkNode();
  await ensureInstalled();
  await ensureBuilt();
  if (nats) process.env.NATS_SERVER_BIN = await ensureNatsServer();
}
