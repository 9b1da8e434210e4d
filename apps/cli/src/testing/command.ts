import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
