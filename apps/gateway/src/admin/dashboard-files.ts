import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { contentType, type Encoding } from '../core/admin/static-files';

/** Beside the gateway, in a checkout as in an image. */
export const DASHBOARD_DIR = join(__dirname, '../../../dashboard/dist');

const SUFFIXES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** One file of the dashboard, in memory. */
export interface DashboardFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
}

/**
 * `index.html` and what lies in `assets`, by their paths in the folder, with slashes. Nothing else can be asked for. Empty where the
 * folder holds no page.
 */
export function readDashboard(folder: string): ReadonlyMap<string, DashboardFile> {
  const paths = pathsIn(folder);
  if (!paths.has('index.html')) return new Map();
  const served = [...paths].filter(
    (path) => (path === 'index.html' || path.startsWith('assets/')) && !isEncoded(path, paths),
  );
  return new Map(
    served.map((path) => {
      const encoded = SUFFIXES.filter(([, suffix]) => paths.has(path + suffix)).map(
        ([encoding, suffix]) => [encoding, readFileSync(join(folder, path + suffix))] as const,
      );
      const bytes = readFileSync(join(folder, path));
      return [path, { type: contentType(path), bytes, encoded: new Map(encoded) }];
    }),
  );
}

function pathsIn(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return new Set(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, sep).length).split(sep).join('/')),
    );
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return new Set();
    throw error;
  }
}

/** The compressed form of another file. */
const isEncoded = (path: string, paths: ReadonlySet<string>): boolean =>
  SUFFIXES.some(([, suffix]) => path.endsWith(suffix) && paths.has(path.slice(0, -suffix.length)));
