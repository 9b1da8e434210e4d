// What a fresh machine lacks: the npm packages, the build, a nats-server. Node built-ins only, since nothing is installed yet.
// Progress goes to stderr; stdout belongs to the command that is set up.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (text) => process.stderr.write(`${text}\n`);

/** Ends the command with a message for a person and exit code 2. */
export function giveUp(message) {
  say(`\n${message}\n`);
  process.exit(2);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) giveUp(`${command} could not be started: ${error.message}`);
  return status ?? 1;
}

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    giveUp(`Hindcast needs Node 20.19 or newer; this is ${process.versions.node}.`);
  }
}

/** Installs the packages when there are none, or when the lock file has changed since. */
export function ensureInstalled() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = join(root, 'node_modules', '.hindcast-lock');
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  // A lock older than what npm installed last means that somebody ran `npm ci` by hand.
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(join(root, 'package-lock.json')).mtimeMs) {
    say('Installing packages (npm ci, about a minute)…');
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    if (run(npm, ['ci', '--no-progress', '--loglevel=error']) !== 0) giveUp('npm ci failed; see above.');
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lock);
}

/** Compiles what changed (incremental). */
export function ensureBuilt() {
  const generate = join(root, 'apps/dispatcher/prisma/generate.mjs');
  if (existsSync(generate) && run(process.execPath, [generate]) !== 0)
    giveUp('The Prisma client could not be generated; see above.');
  if (!existsSync(join(root, 'apps/simulator/dist/main.js'))) say('Compiling (about half a minute the first time)…');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  if (run(process.execPath, [tsc, '-b', 'tsconfig.build.json']) !== 0) giveUp('The build failed; see above.');
  const dashboard = join(root, 'apps/dashboard/build.mjs');
  if (existsSync(dashboard) && run(process.execPath, [dashboard]) !== 0)
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
export function ensureNatsServer() {
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
    run('brew', ['install', 'nats-server']);
  } else if (has('apt-get') && asRoot) {
    say('Installing nats-server (apt-get)…');
    const apt = (...args) =>
      run(asRoot[0] ?? 'apt-get', [...asRoot.slice(1), ...(asRoot.length ? ['apt-get'] : []), ...args]);
    if (apt('install', '-y', '-q', 'nats-server') !== 0) {
      apt('update', '-q');
      apt('install', '-y', '-q', 'nats-server');
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
export function prepare({ nats = true } = {}) {
  checkNode();
  ensureInstalled();
  ensureBuilt();
  if (nats) process.env.NATS_SERVER_BIN = ensureNatsServer();
}
