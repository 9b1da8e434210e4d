import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Takes a data folder for this process: two stacks in one folder would share a broker's store.
 * A lock whose process is gone is taken over.
 * @throws Error that names the process that holds the folder
 */
export function lockFolder(folder: string): { release(): void } {
  const file = join(folder, 'stack.lock');
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return { release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = holderOf(file);
    if (holder !== null && isAlive(holder)) {
      throw new Error(
        `Hindcast already runs in ${folder} (process ${holder}). Stop it, or name another folder with --data-dir.`,
      );
    }
    rmSync(file, { force: true });
  }
}

function holderOf(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8')) || null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
