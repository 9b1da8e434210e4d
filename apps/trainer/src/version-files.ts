import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import {
  copyCompanionFiles,
  initLora,
  loraTargets,
  readModelWeights,
  readPeftAdapter,
  sizeOf,
  weightShapes,
  writeModelWeights,
  writePeftAdapter,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import type { TrainedWeights, Tuning } from './core/tuning';

export interface PolicyFiles {
  readonly config: LlamaConfig;
  /** Folder of the base model, Hugging Face format. */
  readonly baseModel: string;
  readonly tuning: Tuning;
  /** Seed of the first adapter's A. */
  readonly seed: number;
  /** Largest file of full weights, bytes. Default: 5 GB. */
  readonly maxShardBytes?: number;
}

/** What training begins with: an adapter that changes nothing, or the base model's own weights, read anew. */
export async function initialWeights({ config, baseModel, tuning, seed }: PolicyFiles): Promise<TrainedWeights> {
  if (tuning.kind === 'full') return floatTensors(await readModelWeights(baseModel, config));
  const { rank, alpha, targets: targetModules } = tuning;
  return floatTensors(initLora(config, { rank, alpha, targetModules, seed }));
}

/** Writes weights into a folder as engines load it: a PEFT adapter, or a model directory. */
export async function writeWeights(folder: string, weights: TrainedWeights, files: PolicyFiles): Promise<void> {
  const { tuning, baseModel, maxShardBytes } = files;
  if (tuning.kind === 'lora') {
    const { targets: targetModules, ...settings } = tuning;
    await writePeftAdapter(folder, { ...settings, baseModel, targetModules, tensors: weights });
    return;
  }
  await copyFile(join(baseModel, 'config.json'), join(folder, 'config.json'));
  await copyCompanionFiles(baseModel, folder);
  await writeModelWeights(folder, weights, maxShardBytes === undefined ? {} : { maxShardBytes });
}

/** The weights of a version's folder, in the order in which training began with them. */
export async function readWeights(folder: string, { config, tuning }: PolicyFiles): Promise<TrainedWeights> {
  if (tuning.kind === 'full') return floatTensors(await readModelWeights(folder, config));
  const adapter = await readPeftAdapter(folder, config);
  const { rank, alpha, targets: targetModules } = tuning;
  if (adapter.rank !== rank || adapter.alpha !== alpha)
    throw new HindcastError('config-invalid', `${folder} needs LORA_RANK=${adapter.rank} LORA_ALPHA=${adapter.alpha}`);
  const names = [...initLora(config, { rank, alpha, targetModules, seed: 0 }).keys()];
  return floatTensors(
    new Map(
      names.map((name) => {
        const tensor = adapter.tensors.get(name);
        if (!tensor) throw new RangeError(`${folder} holds no ${name}`);
        return [name, tensor];
      }),
    ),
  );
}

/** Bytes of a version on disk: weights and both moments, float32. */
export function versionBytes({ config, tuning }: PolicyFiles): number {
  const parameters =
    tuning.kind === 'full'
      ? [...weightShapes(config).values()].reduce((sum, shape) => sum + sizeOf(shape), 0)
      : loraTargets(config, tuning.targets).reduce((sum, { out, in: into }) => sum + tuning.rank * (out + into), 0);
  return 3 * 4 * parameters;
}

export function arraysOf(tensors: TrainedWeights): ReadonlyMap<string, Float32Array> {
  return new Map([...tensors].map(([name, { data }]) => [name, data]));
}

function floatTensors(tensors: ReadonlyMap<string, HostTensor>): TrainedWeights {
  return new Map(
    [...tensors].map(([name, tensor]) => {
      if (tensor.dtype !== 'float32') throw new RangeError(`${name} is ${tensor.dtype}, not float32`);
      return [name, tensor];
    }),
  );
}
