import { Buffer } from 'node:buffer';
import { spawn, spawnSync } from 'node:child_process';

/** What is missing is not a mistake of this command: a registry that is away, no compiler, no Python. Exit code 3. */
export class Unavailable extends Error {}

/** Runs a command; its output is shown only when it fails. @returns what it wrote to stdout */
export async function run(command, args, { cwd, env, whatFailed }) {
  const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stdout = [];
  const everything = [];
  child.stdout.on('data', (piece) => (stdout.push(piece), everything.push(piece)));
  child.stderr.on('data', (piece) => everything.push(piece));
  const code = await new Promise((resolve) => {
    child.on('error', (error) => (everything.push(Buffer.from(`${error.message}\n`)), resolve(1)));
    child.on('close', resolve);
  });
  if (code === 0) return Buffer.concat(stdout).toString();
  const said = Buffer.concat(everything).toString().trim().split('\n').slice(-20).join('\n');
  throw new Unavailable(`${whatFailed}\n${said}`);
}

/** The first of the commands that starts. */
export function firstThatRuns(candidates, advice) {
  const found = candidates.find(([command, ...args]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0);
  if (found === undefined) throw new Unavailable(advice);
  return found[0];
}
