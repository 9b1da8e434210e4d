import { join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { Checkpoint, initLora, SafetensorsFile, weightShapes, type HostTensor } from '@hindcast/language-model';
import type { PolicyFiles } from '../../version-files';

/** The weights of a version, one at a time. */
export interface VersionTensors {
  readonly names: readonly string[];
  read(name: string): Promise<HostTensor>;
  close(): Promise<void>;
}

/**
 * Opens the weights of a version for reading.
 *
 * @param folder of the version, or of the base model
 * @throws HindcastError `not-found` when they are deleted
 */
export async function openTensors(version: number, folder: string, files: PolicyFiles): Promise<VersionTensors> {
  const { config, tuning, seed } = files;
  if (tuning.kind === 'full') {
    const checkpoint = await Checkpoint.open(folder, config);
    return {
      names: [...weightShapes(config).keys()],
      read: (name) => checkpoint.read(name),
      close: () => checkpoint.close(),
    };
  }
  if (version === 0) {
    const { rank, alpha, targets: targetModules } = tuning;
    const fresh = initLora(config, { rank, alpha, targetModules, seed });
    return {
      names: [...fresh.keys()],
      read: (name) => Promise.resolve(fresh.get(name)!),
      close: () => Promise.resolve(),
    };
  }
  const file = await SafetensorsFile.open(join(folder, 'adapter_model.safetensors'));
  return { names: [...file.entries.keys()], read: (name) => file.read(name), close: () => file.close() };
}

/** @throws HindcastError `not-found` */
export function assertKept(version: number, hasWeights: boolean): void {
  if (!hasWeights)
    throw new HindcastError(
      'not-found',
      `the weights of version ${version} are deleted; KEEP_VERSIONS says how many are kept`,
    );
}
