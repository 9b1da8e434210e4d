import { cp, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { exportMerged } from '@hindcast/language-model';
import { SingleBar } from 'cli-progress';
import type { Terminal } from '@hindcast/platform/terminal';
import { RecordedTuning } from '../../core/tuning-match';
import { PolicyReader, type CommonFlags } from './policy-reader';
import { assertKept } from './version-tensors';

/** Ours, beside what a model directory consists of. */
const OURS = /[\\/](manifest\.json|step\.json|optimizer)$/;

/** `npm run policy -- export-merged N FOLDER`. With full tuning there is nothing to merge, and the model directory is copied. */
export async function exportMergedVersion(
  terminal: Terminal,
  version: number,
  folder: string,
  flags: CommonFlags & { readonly dtype: 'float32' | 'bfloat16' },
): Promise<void> {
  const reader = await PolicyReader.open(terminal, flags);
  const manifest = reader.get(version);
  assertKept(version, await reader.hasWeights(manifest));
  const damage = await reader.damageOf(manifest);
  if (damage !== null) throw new HindcastError('policy-damaged', damage);
  const outDir = resolve(folder);
  if (existsSync(outDir)) throw new HindcastError('invalid-request', `${outDir} is there already`);
  await mkdir(dirname(outDir), { recursive: true });
  const source = reader.folderOf(version);
  if (RecordedTuning.safeParse(manifest.hyperparameters).data?.tuning.kind === 'full')
    await copyModel(source, outDir, flags.dtype);
  else await merge(terminal, reader.config.MODEL_DIR, source, outDir, flags.dtype);
  terminal.print(
    flags.json ? JSON.stringify({ version, folder: outDir, dtype: flags.dtype }) : `Written to ${outDir}.`,
  );
}

async function copyModel(source: string, outDir: string, dtype: string): Promise<void> {
  if (dtype !== 'float32')
    throw new HindcastError('invalid-request', 'full weights are copied as they are: float32 is the only --dtype');
  await cp(source, outDir, { recursive: true, filter: (path) => !OURS.test(path) });
}

async function merge(
  { bars }: Terminal,
  baseDir: string,
  adapterDir: string,
  outDir: string,
  dtype: 'float32' | 'bfloat16',
): Promise<void> {
  const bar = bars && new SingleBar({ format: 'Merged {bar} {value}/{total}', stream: bars, hideCursor: true });
  bar?.start(1, 0);
  try {
    await exportMerged({
      baseDir,
      adapterDir,
      outDir,
      dtype,
      onProgress: (done, total) => {
        bar?.setTotal(total);
        bar?.update(done);
      },
    });
  } finally {
    bar?.stop();
  }
}
