import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Name of a temporary sibling of `path`: same folder, hence same file system, so that a rename is atomic. */
export function temporarySibling(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
}

/** Replaces a file whole: written beside it, flushed to disk, renamed. A reader sees the old file or the new one. */
export async function writeAtomically(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array> | string,
): Promise<void> {
  const temporary = temporarySibling(path);
  try {
    await writeFlushed(temporary, typeof pieces === 'string' ? [Buffer.from(pieces)] : pieces);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushDirectory(dirname(path));
}

/** A rename is durable once its folder is on disk. */
export async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function writeFlushed(path: string, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    for await (const piece of pieces) {
      // A file handle may write less than it was given.
      for (let done = 0; done < piece.length;) {
        const { bytesWritten } = await file.write(piece, done, Math.min(2 ** 29, piece.length - done));
        done += bytesWritten;
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
