import { statfs } from 'node:fs/promises';
import { HindcastError } from '@hindcast/contracts';

/** Beside the version: manifest, record of the step, folders. */
const SPARE_BYTES = 8 * 2 ** 20;
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Checks before a version is written that its file system has room for it. Not every file system says how much it has; then writing
 * will tell.
 *
 * @throws HindcastError `disk-full`
 */
export async function assertRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const needed = bytes + SPARE_BYTES;
  if (blocks > 0 && free < needed)
    throw diskFull(folder, `${megabytes(needed)} are needed and ${megabytes(free)} are free`);
}

/** The error as `disk-full` where the system means that; any other error is itself. */
export function asDiskFull(folder: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code !== undefined && FULL.has(code) ? diskFull(folder, message, error) : error;
}

function diskFull(folder: string, why: string, cause?: unknown): HindcastError {
  return new HindcastError(
    'disk-full',
    `no room for the next version in ${folder}: ${why}. Free space there, or lower KEEP_VERSIONS; training goes on by itself.`,
    { cause },
  );
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;
