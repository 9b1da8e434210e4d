import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig, type LlamaConfig } from '../config';
import { SEED_DIR } from './models';
import { temporaryFolder } from './temporary-folder';

export const folder = temporaryFolder();

/** Writes a config.json and reads it. */
export async function read(file: Record<string, unknown>): Promise<LlamaConfig> {
  await writeFile(join(folder(), 'config.json'), JSON.stringify(file));
  return await readModelConfig(folder());
}

/** Reads the seed model's config.json with this change. */
export async function seedWith(change: Record<string, unknown>): Promise<LlamaConfig> {
  const seed = JSON.parse(await readFile(join(SEED_DIR, 'config.json'), 'utf8')) as Record<string, unknown>;
  return await read({ ...seed, ...change });
}
