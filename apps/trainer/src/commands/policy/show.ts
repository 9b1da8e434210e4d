import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textTable, type Terminal } from '@hindcast/platform/terminal';
import { STEP } from '../../policy-folder';
import type { StepRecord } from '../../core/step-record';
import { rowOf } from './list';
import { PolicyReader, type CommonFlags } from './policy-reader';

/** `npm run policy -- show N`. */
export async function show(terminal: Terminal, version: number, flags: CommonFlags): Promise<void> {
  const reader = await PolicyReader.open(terminal, flags);
  const manifest = reader.get(version);
  const folder = reader.folderOf(version);
  const row = rowOf(manifest, await reader.hasWeights(manifest), reader.servedVersion);
  const cases = await caseCounts(join(folder, STEP));
  if (flags.json) {
    const { serves, hasWeights } = row;
    return terminal.print(JSON.stringify({ ...manifest, folder, serves, hasWeights, cases }));
  }
  const facts: Record<string, string> = {
    version: String(version),
    state: `${row.state}${row.serves ? ', serves' : ''}`,
    reason: row.reason ?? '-',
    parent: String(row.parent),
    date: row.at,
    folder,
    weights: row.hasWeights ? 'kept' : 'deleted',
    samples: `${row.samples}${cases === null ? '' : `: ${describe(cases)}`}`,
  };
  terminal.print(textTable(['', ''], Object.entries(facts)).trimStart());
  terminal.print(`\nMetrics\n${textTable(['', ''], numbers(manifest.metrics))}`);
  terminal.print(`\nHyperparameters\n${JSON.stringify(manifest.hyperparameters, null, 2)}`);
  terminal.print(`\nTurns\n${manifest.turnIds.join('\n')}`);
}

/** Samples of each case; `null` when the record of the step is gone or cannot be read: nothing depends on it. */
async function caseCounts(path: string): Promise<Record<string, number> | null> {
  try {
    const { samples } = JSON.parse(await readFile(path, 'utf8')) as StepRecord;
    const counts: Record<string, number> = {};
    for (const sample of samples) counts[sample.case] = (counts[sample.case] ?? 0) + 1;
    return counts;
  } catch {
    return null;
  }
}

const describe = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

const numbers = (metrics: Readonly<Record<string, number>>): string[][] =>
  Object.entries(metrics).map(([name, value]) => [name, String(value)]);
