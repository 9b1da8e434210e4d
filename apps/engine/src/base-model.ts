import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { readModelConfig } from '@hindcast/language-model';
import type { ServedModels } from './served-models';

const BYTES_OF_SMALLEST_FLOAT = 2;

/**
 * Loads the base model of the engine's MODEL_DIR.
 *
 * @throws HindcastError `config-invalid`, whatever is wrong with that folder: what is missing, broken, or not of one model
 */
export async function loadBaseModel(models: ServedModels, dir: string): Promise<void> {
  try {
    await assertWeightsCanHoldLayers(dir);
    await models.load();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const place = problem.includes(dir) ? '' : `${dir}: `;
    throw new HindcastError('config-invalid', `MODEL_DIR: ${place}${problem}`, { cause });
  }
}

/** A config.json of a billion layers would be believed for minutes, while the names of its weights are made up. */
async function assertWeightsCanHoldLayers(dir: string): Promise<void> {
  const { layers, hiddenSize } = await readModelConfig(dir);
  const names = (await readdir(dir)).filter((name) => name.endsWith('.safetensors'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(dir, name))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  // Two norms at least are as wide as the hidden state.
  if (layers * 2 * hiddenSize * BYTES_OF_SMALLEST_FLOAT > bytes)
    throw new RangeError(`config.json says ${layers} layers, which ${bytes} bytes of weights cannot be`);
}
