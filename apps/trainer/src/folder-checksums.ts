import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isMissing } from './durable-file';

const READ_BYTES = 2 ** 20;
/** What an engine that is given the folder would take for weights of it. */
const WEIGHT_FILE = /\.(safetensors|bin|pt|pth|gguf)$|\.index\.json$/;

/** SHA-256 of every file of a folder and its subfolders, hex, by path in the folder. */
export async function folderChecksums(folder: string): Promise<Record<string, string>> {
  const checksums: Record<string, string> = {};
  for (const name of await filesOf(folder)) checksums[name] = await sha256(join(folder, name));
  return checksums;
}

/**
 * What is wrong with the files of a folder, or `null`: one is missing, one has other bytes, or there is one that an engine would read as
 * weights and nobody committed.
 *
 * @param unimportant files that may be missing or changed
 */
export async function damageOf(
  folder: string,
  checksums: Readonly<Record<string, string>>,
  unimportant: readonly string[],
): Promise<string | null> {
  for (const [name, expected] of Object.entries(checksums)) {
    if (unimportant.includes(name)) continue;
    const path = join(folder, name);
    const found = await sha256(path).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (found === null) return `${path} is missing`;
    if (found !== expected) return `${path} is not the file that was committed`;
  }
  const stranger = (await filesOf(folder)).find((name) => !(name in checksums) && WEIGHT_FILE.test(name));
  return stranger === undefined ? null : `${join(folder, stranger)} was not committed, and an engine would load it`;
}

/** Paths in the folder of all files, sorted. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.split(sep).join('/'))
    .sort();
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: READ_BYTES })) hash.update(piece as Buffer);
  return hash.digest('hex');
}
