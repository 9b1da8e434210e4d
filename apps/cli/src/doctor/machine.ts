import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from '../root';
import { diskFinding, nodeFinding } from './core/machine-findings';
import { ok, skipped, warning, fault, type Finding } from './core/finding';
import { folderOf, type Settings } from './settings';

const APPS = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer', 'engine', 'simulator', 'cli'] as const;

export const checkNode = (): Finding[] => [nodeFinding(process.versions.node)];

/** Packages as the lock file has them, and a build that is not older than what it was made from. */
export function checkBuild(): Finding[] {
  const lock = join(root, 'package-lock.json');
  // What runs without a lock file, an image say, was put together by whoever made it.
  if (!existsSync(lock)) return [skipped('packages', `${root} is no checkout`)];
  const stamp = join(root, 'node_modules', '.hindcast-lock');
  const installed = join(root, 'node_modules', '.package-lock.json');
  const hash = createHash('sha256').update(readFileSync(lock)).digest('hex');
  const isCurrent =
    (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) ||
    (existsSync(installed) && changedAt(installed) >= changedAt(lock));
  const missing = APPS.filter((app) => !existsSync(join(root, 'apps', app, 'dist/main.js')));
  const older = APPS.filter((app) => !missing.includes(app) && isOlder(app));
  return [
    isCurrent
      ? ok('packages', 'as package-lock.json has them')
      : warning('packages', 'other than package-lock.json has them', 'Run: npm ci'),
    missing.length > 0
      ? fault('build', `not built: ${missing.join(', ')}`, 'Run: npm run build')
      : older.length > 0
        ? warning('build', `older than its sources: ${older.join(', ')}`, 'Run: npm run build')
        : ok('build', 'up to date'),
  ];
}

function isOlder(app: string): boolean {
  const info = join(root, 'apps', app, 'dist/tsconfig.lib.tsbuildinfo');
  return existsSync(info) && newestSource(join(root, 'apps', app, 'src')) > changedAt(info);
}

function newestSource(folder: string): number {
  if (!existsSync(folder)) return 0;
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/(^|[\\/])(testing|generated)[\\/]|spec\.ts$/.test(name),
  );
  return Math.max(0, ...sources.map((name) => changedAt(join(folder, name))));
}

const changedAt = (path: string): number => statSync(path).mtimeMs;

/** Room on each disk that something is written to. */
export async function checkDisks({ gateway, trainer, dataDir }: Settings): Promise<Finding[]> {
  const folders = new Set([dataDir, folderOf(trainer.POLICY_DIR ?? dataDir), folderOf(gateway.SPOOL_DIR ?? dataDir)]);
  const disks = new Map<number, { folders: string[]; free: number }>();
  for (const folder of folders) {
    const place = existing(folder);
    const { bavail, bsize } = await statfs(place);
    const disk = disks.get(statSync(place).dev) ?? { folders: [], free: bavail * bsize };
    disk.folders.push(folder);
    disks.set(statSync(place).dev, disk);
  }
  return [...disks.values()].map(({ folders: on, free }) => diskFinding(on.join(', '), free));
}

/** The folder, or the nearest one above it that is there. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}
