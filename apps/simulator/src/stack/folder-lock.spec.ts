import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from './folder-lock';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('refuses a second holder while the first one lives, and names it', () => {
  const lock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(`process ${process.pid}`);
  lock.release();
  lockFolder(folder).release();
});

it('takes over from a process that is gone', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(join(folder, 'stack.lock'), String(pid));
  expect(() => lockFolder(folder).release()).not.toThrow();
});
