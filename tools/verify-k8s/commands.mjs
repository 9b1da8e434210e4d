import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';

/** Something that the proofs stand on is missing or does not start. It says nothing of k8s/. Exit code 3. */
export class Unavailable extends Error {}

/** A command that ended with another code than 0. */
export class Failed extends Error {}

/** Runs a command to its end. @returns what it wrote to stdout @throws Failed with the end of what it said, Unavailable when `whatFailed` is given */
export async function run(command, args, { cwd, env, input, whatFailed } = {}) {
  const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout = [];
  const stderr = [];
  child.stdout.on('data', (piece) => stdout.push(piece));
  child.stderr.on('data', (piece) => stderr.push(piece));
  // A command that does not read its input ends the pipe; its exit code tells.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const code = await new Promise((resolve) => {
    child.on('error', (error) => (stderr.push(Buffer.from(`${error.message}\n`)), resolve(1)));
    child.on('close', resolve);
  });
  if (code === 0) return Buffer.concat(stdout).toString();
  const said = Buffer.concat(stderr).toString().trim().split('\n').slice(-20).join('\n');
  if (whatFailed) throw new Unavailable(`${whatFailed}\n${said}`);
  throw new Failed(said || `${command} ended with ${code}`);
}
