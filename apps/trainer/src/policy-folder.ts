import { access, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';
import { NextBatch } from './core/batch-plan';
import { Manifest, versionFolder } from './core/manifest';
import { readJsonIfPresent } from './durable-file';

export const MANIFEST = 'manifest.json';
export const STEP = 'step.json';
export const NEXT_BATCH = 'next-batch.json';
export const NUMBERING = 'numbering.json';
/** Up to which version it was announced what the steps made of their samples. */
export const TRAINED_SAMPLES = 'trained-samples.json';

const Numbering = z.strictObject({ v: z.literal(1), above: z.int().nonnegative() });

/** Temporary files that others than the holder of the lock write. */
const FOREIGN_TEMPORARY = /^\.(trainer\.lock|rollback)/;
const FOREIGN_TEMPORARY_MS = 60_000;

/**
 * Every version's manifest, oldest first; reading only.
 *
 * @throws HindcastError `policy-damaged` when one is missing or not readable: which turns it trained cannot be guessed
 */
export async function readManifests(folder: string): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const name of (await readdir(folder)).filter((entry) => /^v\d{6,}$/.test(entry))) {
    const path = join(folder, name, MANIFEST);
    const wayOut =
      `Restore it from a backup, or move ${join(folder, name)} away: turns that it was trained on ` +
      'are then trained again if the broker still holds them.';
    const manifest = await readJsonIfPresent(path, Manifest, wayOut);
    if (!manifest) throw new HindcastError('policy-damaged', `${path} is missing. ${wayOut}`);
    if (versionFolder(manifest.version) !== name)
      throw new HindcastError('policy-damaged', `${path} is damaged: it is of version ${manifest.version}. ${wayOut}`);
    manifests.push(manifest);
  }
  return manifests.sort((a, b) => a.version - b.version);
}

/** The batch that a step was begun with. @throws HindcastError `policy-damaged` */
export async function readNextBatch(folder: string): Promise<NextBatch | null> {
  return await readJsonIfPresent(join(folder, NEXT_BATCH), NextBatch, 'Remove it: the batch is then planned anew.');
}

/** Number of the newest version that was announced from another folder. @throws HindcastError `policy-damaged` */
export async function readFloor(folder: string): Promise<number> {
  const wayOut = 'Remove it: the number is then read from the broker again.';
  return (await readJsonIfPresent(join(folder, NUMBERING), Numbering, wayOut))?.above ?? 0;
}

/** Removes what was being written when a process died: it was never there. Called by the holder of the lock. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (/^v\d{6,}$/.test(name)) await removeTemporary(path);
    else if (FOREIGN_TEMPORARY.test(name)) await removeIfOld(path);
  }
  await removeTemporary(folder);
}

export async function hasFiles(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const isThere = await access(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (!isThere) return false;
  }
  return true;
}

/** Removes files of a folder, and subfolders that are empty then; what somebody else put there stays. */
export async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
  const parts = new Set(names.map((name) => dirname(name)).filter((part) => part !== '.'));
  for (const part of parts) await rmdir(join(folder, part)).catch(() => undefined);
}

async function removeTemporary(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\..+\.tmp$/.test(name) || FOREIGN_TEMPORARY.test(name)) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function removeIfOld(path: string): Promise<void> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  if (Date.now() - mtimeMs > FOREIGN_TEMPORARY_MS) await rm(path, { force: true });
}
