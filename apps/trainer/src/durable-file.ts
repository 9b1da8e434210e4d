import { open, readFile } from 'node:fs/promises';
import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';

/** A rename or removal is durable once its folder is on disk. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The text of a file, or `null` when there is none. */
export async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * What a JSON file of ours holds, or `null` when there is none.
 *
 * @param whatToDo a sentence for the person who finds the file damaged
 * @throws HindcastError `policy-damaged` that names the file when it cannot be read as that
 */
export async function readJsonIfPresent<S extends z.ZodType>(
  path: string,
  schema: S,
  whatToDo = 'Restore it from a backup.',
): Promise<z.infer<S> | null> {
  const text = await readIfPresent(path);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new HindcastError('policy-damaged', `${path} is damaged: ${why}. ${whatToDo}`, { cause: error });
  }
}
