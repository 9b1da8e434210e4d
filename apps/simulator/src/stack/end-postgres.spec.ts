import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endPostgres } from './end-postgres';

let folder: string;
let child: ChildProcess;
afterEach(() => {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** A data folder whose database server has that name among its arguments. */
async function serve(name: string): Promise<void> {
  // The folder must not name what is looked for.
  folder = mkdtempSync(join(tmpdir(), 'hindcast-end-'));
  const script = 'console.log("up"); setInterval(() => {}, 1000)';
  child = spawn(process.execPath, ['-e', script, name], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout!, 'data');
  mkdirSync(join(folder, 'postgres/cluster'), { recursive: true });
  writeFileSync(join(folder, 'postgres/cluster/postmaster.pid'), `${child.pid}\n/data\n`);
}

it('ends the server of the folder with a fast shutdown', async () => {
  await serve('postgres');
  const exit = once(child, 'exit');
  endPostgres(folder);
  expect(await exit).toEqual([null, 'SIGINT']);
});

it('leaves a process alone that has the number by now, and bears a folder without a server', async () => {
  await serve('something else');
  endPostgres(folder);
  endPostgres(join(folder, 'none'));
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
});
