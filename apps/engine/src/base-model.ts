import { HindcastError } from '@hindcast/contracts';
import type { ServedModels } from './served-models';

/**
 * Loads the base model of the engine's MODEL_DIR.
 *
 * @throws HindcastError `config-invalid`, whatever is wrong with that folder: what is missing, broken, or not of one model
 */
export async function loadBaseModel(models: ServedModels, dir: string): Promise<void> {
  try {
    await models.load();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const place = problem.includes(dir) ? '' : `${dir}: `;
    throw new HindcastError('config-invalid', `MODEL_DIR: ${place}${problem}`, { cause });
  }
}
