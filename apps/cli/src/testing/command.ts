import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runHindcast } from '../program';

export const root = join(__dirname, '../../../..');
export const REGISTER = join(root, 'libs/platform/src/testing/register.cjs');

export interface Ran {
  readonly code: number | null;
  readonly printed: string;
  readonly said: string;
}

/** Runs the command line in a process of its own, from the sources. Of this process's environment it gets the PATH alone. */
export async function hindcast(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ran> {
  const child = spawn(process.execPath, ['-r', REGISTER, join(__dirname, 'main.ts'), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: emptyFolder, ...env },
    stdio: 'pipe',
  });
  const said: Record<'printed' | 'said', string> = { printed: '', said: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.said += chunk.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

/** No `npm start` of this machine is to be found. */
const emptyFolder = mkdtempSync(join(tmpdir(), 'hindcast-cli-'));

/** A judge's trial vote without a judge. */
const VOTE = { outcome: 'answered', why: null, score: -1, saidAs: 'json', isCut: false, raw: null, latencyMs: 1 };

/** Runs the command line in this process; a program of another app would print a good vote. */
export async function hindcastHere(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const out: Record<'printed' | 'said', string> = { printed: '', said: '' };
  const code = await runHindcast(
    args,
    {
      env: { PATH: process.env['PATH'], DATA_DIR: emptyFolder, ...env },
      print: (text) => void (out.printed += `${text}\n`),
      say: (line) => void (out.said += `${line}\n`),
      width: 160,
      bars: null,
      confirm: () => Promise.resolve(false),
    },
    { isTerminal: false, write: (text) => void (out.printed += text), redraw: () => undefined },
    () => ['-e', `console.log(${JSON.stringify(JSON.stringify(VOTE))})`],
  );
  return { code, ...out };
}
