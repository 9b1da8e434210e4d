import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownAfter } from '../core/event-file-reading';

/** The steps that TensorBoard shows of a folder of events, in the order in which they were written. */
export function shownSteps(folder: string): number[] {
  const files = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name)));
  return [...files.reduce((before, file) => shownAfter(file, before), new Set<number>())];
}
