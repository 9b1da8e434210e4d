import { HindcastError } from '@hindcast/contracts';
import { textTable, withProgress, type Terminal } from '@hindcast/platform/terminal';
import { RecordedTuning, sameTuning } from '../../core/tuning-match';
import type { PolicyFiles } from '../../version-files';
import {
  groupDifferences,
  settingDifferences,
  tensorSums,
  type GroupDifference,
  type SettingDifference,
  type TensorSums,
} from './core/version-difference';
import { PolicyReader, type CommonFlags } from './policy-reader';
import { assertKept, openTensors } from './version-tensors';

/** `npm run policy -- diff A B`. */
export async function diff(terminal: Terminal, a: number, b: number, flags: CommonFlags): Promise<void> {
  const reader = await PolicyReader.open(terminal, flags);
  const settings = a === 0 || b === 0 ? [] : settingDifferences(...hyperparametersOf(reader, a, b));
  const groups = await weightDifferences(terminal, reader, a, b);
  if (flags.json) return terminal.print(JSON.stringify({ a, b, hyperparameters: settings, groups }));
  if (a !== 0 && b !== 0)
    terminal.print(settings.length === 0 ? 'The hyperparameters are the same.' : settingTable(a, b, settings));
  terminal.print(`\n${groupTable(groups)}`);
}

function hyperparametersOf(reader: PolicyReader, a: number, b: number): [unknown, unknown] {
  return [reader.get(a).hyperparameters, reader.get(b).hyperparameters];
}

async function weightDifferences(
  terminal: Terminal,
  reader: PolicyReader,
  a: number,
  b: number,
): Promise<GroupDifference[]> {
  const files = await filesOf(reader, a, b);
  for (const version of [a, b]) if (version !== 0) assertKept(version, await reader.hasWeights(reader.get(version)));
  const left = await openTensors(a, reader.folderOf(a), files);
  try {
    const right = await openTensors(b, reader.folderOf(b), files);
    try {
      const sums = new Map<string, TensorSums>();
      await withProgress(terminal, 'Compared', left.names.length, async (onDone) => {
        for (const name of left.names) {
          const [x, y] = [await left.read(name), await right.read(name)];
          sums.set(name, tensorSums(x.data as Float32Array, y.data as Float32Array));
          onDone(1);
        }
      });
      return groupDifferences(sums);
    } finally {
      await right.close();
    }
  } finally {
    await left.close();
  }
}

/** The tuning that both were trained with, as their manifests have it; the base model is compared under that of the other. */
async function filesOf(reader: PolicyReader, a: number, b: number): Promise<PolicyFiles> {
  const recorded = [a, b]
    .filter((version) => version !== 0)
    .map((version) => RecordedTuning.safeParse(reader.get(version).hyperparameters).data?.tuning);
  const [first, second] = recorded;
  if (first && second && !sameTuning(first, second))
    throw new HindcastError(
      'invalid-request',
      `versions ${a} and ${b} were trained otherwise (${first.kind}, ${second.kind}): their weights cannot be compared`,
    );
  const files = await reader.files();
  return first ? { ...files, tuning: first.kind === 'full' ? first : { ...first, dropout: 0 } } : files;
}

function settingTable(a: number, b: number, settings: readonly SettingDifference[]): string {
  const rows = settings.map(({ name, a: left, b: right }) => [name, JSON.stringify(left), JSON.stringify(right)]);
  return textTable(['hyperparameter', `version ${a}`, `version ${b}`], rows);
}

function groupTable(groups: readonly GroupDifference[]): string {
  const number = (value: number | null): string => (value === null ? '-' : value.toPrecision(4));
  const rows = groups.map(({ group, tensors, parameters, distance, relative, cosine }) => [
    group,
    String(tensors),
    String(parameters),
    number(distance),
    number(relative),
    cosine === null ? '-' : cosine.toFixed(6),
  ]);
  return textTable(['weights', 'tensors', 'parameters', 'L2 distance', 'relative', 'cosine'], rows);
}
