import { dropoutKeys, float32Tensor, loraTargets, mulberry32, type LlamaConfig } from '@hindcast/language-model';
import type { HostTensors } from './compute-backend';
import type { MicroBatch } from './micro-batches';
import { DROPOUT_PREFIX, DROPOUT_ROWS } from './policy-functions';
import type { LoraTuning } from './tuning';

/**
 * Keys of the dropout masks of one micro-batch: two per position, by sample, and two per column of each adapted module's input. They
 * follow from the seed alone, so that a step that is made again, or cut into other micro-batches, has the same masks.
 */
export function dropoutTensors(
  seed: number,
  config: LlamaConfig,
  { targets }: LoraTuning,
  batch: MicroBatch,
): HostTensors {
  const rows = new Float32Array(2 * batch.rows * batch.length);
  batch.samples.forEach((sample, row) => {
    rows.set(dropoutKeys(mixedSeed(seed, 2 * sample), batch.length), 2 * row * batch.length);
  });
  const columns = loraTargets(config, targets).map(({ module, in: width }, i) => {
    const keys = dropoutKeys(mixedSeed(seed, 2 * i + 1), width);
    return [`${DROPOUT_PREFIX}${module}`, float32Tensor([width, 2], keys)] as const;
  });
  return { [DROPOUT_ROWS]: float32Tensor([batch.rows * batch.length, 2], rows), ...Object.fromEntries(columns) };
}

/** A seed of its own for each pair of numbers. */
export function mixedSeed(seed: number, index: number): number {
  const first = mulberry32(seed)() * 2 ** 32;
  return (mulberry32((first ^ Math.imul(index, 0x9e3779b1)) >>> 0)() * 2 ** 32) >>> 0;
}
