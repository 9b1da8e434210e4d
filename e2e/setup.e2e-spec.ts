import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// tools/setup.mjs in a checkout of its own, whose npm is a script.

const TOOLS = ['setup.mjs', 'run-step.mjs', 'setup-lock.mjs', 'end-with-npm.mjs'];
let root: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hindcast-setup-'));
  for (const folder of ['tools', 'bin']) mkdirSync(join(root, folder));
  for (const file of TOOLS) cpSync(join(__dirname, '..', 'tools', file), join(root, 'tools', file));
  writeFileSync(join(root, 'package-lock.json'), '{}');
  npmIs('');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});

/** An npm that counts its runs, waits where it is told to, and installs one package. */
function npmIs(wait: string): void {
  const script = [
    '#!/bin/sh',
    'echo run >> runs',
    wait,
    'mkdir -p node_modules/one && echo {} > node_modules/one/package.json',
    `echo '{"packages":{"node_modules/one":{}}}' > node_modules/.package-lock.json`,
  ].join('\n');
  writeFileSync(join(root, 'bin/npm'), script, { mode: 0o755 });
}

const runs = (): number =>
  existsSync(join(root, 'runs')) ? readFileSync(join(root, 'runs'), 'utf8').trim().split('\n').length : 0;

function start(): ChildProcess {
  const script = "import('./tools/setup.mjs').then((setup) => setup.ensureInstalled())";
  const env = { ...process.env, PATH: `${join(root, 'bin')}${delimiter}${process.env['PATH']}` };
  const child = spawn(process.execPath, ['-e', script], { cwd: root, env, stdio: 'ignore' });
  children.push(child);
  return child;
}
const ending = async (child: ChildProcess): Promise<unknown> => ((await once(child, 'exit')) as unknown[])[0];

it('installs once, and again when a package is gone although npm wrote its list', async () => {
  expect([await ending(start()), runs()]).toEqual([0, 1]);
  expect([await ending(start()), runs()]).toEqual([0, 1]);
  rmSync(join(root, 'node_modules/one'), { recursive: true });
  expect([await ending(start()), runs()]).toEqual([0, 2]);
});

it('two at once install one after the other', async () => {
  npmIs('sleep 1');
  const both = [start(), start()].map(ending);
  expect([await Promise.all(both), runs()]).toEqual([[0, 0], 1]);
});

it('a lock of a process that is gone holds nobody up', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  mkdirSync(join(root, '.data'));
  writeFileSync(join(root, '.data/install.lock'), String(pid));
  expect([await ending(start()), runs()]).toEqual([0, 1]);
});

it('a signal that ends npm, and the shell between, reaches what they run', async () => {
  const script =
    "import('./tools/end-with-npm.mjs').then(({ endWithNpm }) => { endWithNpm(); console.log('up'); });" +
    "process.on('SIGTERM', () => { require('node:fs').writeFileSync('told', ''); process.exit(); });" +
    'setInterval(() => {}, 1000);';
  // The second command keeps the shell from becoming the first.
  const shell = spawn('sh', ['-c', '"$0" -e "$1"; true', process.execPath, script], {
    cwd: root,
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(shell);
  await once(shell.stdout, 'data');
  shell.kill('SIGTERM');
  while (!existsSync(join(root, 'told'))) await sleep(20);
});

it('a signal ends the install with all that it started, and the next start installs', async () => {
  npmIs('sleep 600 & echo $! > sleeper; wait');
  const child = start();
  while (!existsSync(join(root, 'sleeper'))) await sleep(20);
  child.kill('SIGTERM');
  expect(await ending(child)).toBe(143);
  const sleeper = Number(readFileSync(join(root, 'sleeper'), 'utf8'));
  // Killed with its group; it is a zombie until somebody reaps it.
  const state = (): string => spawnSync('ps', ['-o', 'stat=', '-p', String(sleeper)], { encoding: 'utf8' }).stdout;
  while (!/^(Z.*)?$/.test(state().trim())) await sleep(20);
  npmIs('');
  expect([await ending(start()), runs()]).toEqual([0, 2]);
});
