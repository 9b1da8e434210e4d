import { existsSync } from 'node:fs';
import { float32Tensor, readSafetensors, readSafetensorsHeader, writeSafetensors } from '@hindcast/language-model';
import type { AdamW } from './adam-w';

/** What a run was asked for. A checkpoint continues only the very same run. */
export interface RunSettings {
  readonly seed: number;
  readonly tokenBudget: number;
  readonly workers: number;
}

/** One point of the loss curve: the mean loss since the point before. */
export interface LossPoint {
  readonly step: number;
  readonly tokens: number;
  readonly seconds: number;
  readonly loss: number;
}

/** How far a run has come. */
export interface Progress {
  tokens: number;
  /** Time spent on steps, over all sittings. */
  seconds: number;
  readonly curve: LossPoint[];
}

/** Writes parameters, optimizer and progress into one file, replaced as a whole. */
export async function saveCheckpoint(
  path: string,
  settings: RunSettings,
  run: { parameters: Float32Array; optimizer: AdamW; progress: Progress },
): Promise<void> {
  const { mean, square, steps } = run.optimizer;
  const vectors = { parameters: Float32Array.from(run.parameters), mean, square };
  await writeSafetensors(
    path,
    new Map(Object.entries(vectors).map(([name, vector]) => [name, float32Tensor([vector.length], vector)])),
    { settings: JSON.stringify(settings), steps: String(steps), progress: JSON.stringify(run.progress) },
  );
}

/** Fills parameters and optimizer from a checkpoint of the same run; null when there is none. */
export async function loadCheckpoint(
  path: string,
  settings: RunSettings,
  into: { parameters: Float32Array; optimizer: AdamW },
): Promise<Progress | null> {
  if (!existsSync(path)) return null;
  const { metadata } = await readSafetensorsHeader(path);
  if (metadata['settings'] !== JSON.stringify(settings)) return null;
  const tensors = await readSafetensors(path);
  const copy = (name: string, target: Float32Array): void => {
    const tensor = tensors.get(name);
    if (tensor?.data.length !== target.length) throw new Error(`${path}: ${name} does not belong to this model`);
    target.set(tensor.data);
  };
  copy('parameters', into.parameters);
  copy('mean', into.optimizer.mean);
  copy('square', into.optimizer.square);
  into.optimizer.steps = Number(metadata['steps']);
  return JSON.parse(metadata['progress'] ?? 'null') as Progress;
}

/** Steps of a checkpoint of the same run; 0 when there is none. */
export async function checkpointSteps(path: string, settings: RunSettings): Promise<number> {
  if (!existsSync(path)) return 0;
  const { metadata } = await readSafetensorsHeader(path);
  return metadata['settings'] === JSON.stringify(settings) ? Number(metadata['steps']) : 0;
}
