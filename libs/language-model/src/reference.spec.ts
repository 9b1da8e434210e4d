import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { readModelConfig, type LlamaConfig } from './config';
import type { LoraTensors, Weights } from './linear';
import { mergeLora } from './lora';
import { readModelWeights } from './model-weights';
import { readPeftAdapter } from './peft-adapter';
import { ids, largestDifference, SEED_DIR, toTensors } from './testing/models';
import { reference, referenceDir, referenceNames, type Reference, type SeedReference } from './testing/reference';
import { tokenLogProbsAndEntropies } from './token-log-probs';

beforeAll(() => tf.setBackend('cpu'));

/** The largest difference over the tokens that are none of padding. */
function differences(expected: Reference, ours: tf.Tensor2D, theirs: number[][]): number {
  const rows = ours.arraySync() as number[][];
  return Math.max(...theirs.map((row, i) => largestDifference(rows[i]!.slice(0, expected.lengths[i]! - 1), row)));
}

function statistics(config: LlamaConfig, weights: Weights, expected: Reference, lora?: LoraTensors) {
  return tokenLogProbsAndEntropies(
    config,
    weights,
    ids(expected.ids.map((row) => row.slice(0, -1))),
    ids(expected.ids.map((row) => row.slice(1))),
    { ...(lora && { lora }) },
  );
}

describe.each(referenceNames)('against transformers and peft: %s', (name) => {
  const dir = referenceDir(name);
  const expected = reference(name);

  it('log-probs and entropies differ by less than 2e-5', async () => {
    const config = await readModelConfig(dir);
    const weights = toTensors(await readModelWeights(dir, config));
    const { logProbs, entropies } = statistics(config, weights, expected);
    expect(differences(expected, logProbs, expected.logProbs)).toBeLessThan(2e-5);
    expect(differences(expected, entropies, expected.entropies)).toBeLessThan(2e-5);
  });

  it('an adapter that peft wrote is read, and gives the same log-probs beside the weights and merged into them', async () => {
    const config = await readModelConfig(dir);
    const base = await readModelWeights(dir, config);
    const { tensors, scale } = await readPeftAdapter(join(dir, 'adapter'), config);
    const beside = statistics(config, toTensors(base), expected, { weights: toTensors(tensors), scale });
    expect(differences(expected, beside.logProbs, expected.adapterLogProbs)).toBeLessThan(2e-5);
    const merged = statistics(config, toTensors(mergeLora(base, tensors, scale)), expected);
    expect(differences(expected, merged.logProbs, expected.adapterLogProbs)).toBeLessThan(2e-5);
    // Else the adapter would not be seen at all.
    expect(differences(expected, beside.logProbs, expected.logProbs)).toBeGreaterThan(0.05);
  });
});

it('against transformers: the seed model’s log-probs and entropies differ by less than 2e-5', async () => {
  const config = await readModelConfig(SEED_DIR);
  const weights = toTensors(await readModelWeights(SEED_DIR, config));
  const { modelSha256, references } = reference<SeedReference>('seed');
  // Else the seed model is another one than the reference numbers are of: run make_fixtures.py again.
  const bytes = await readFile(join(SEED_DIR, 'model.safetensors'));
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(modelSha256);
  for (const { ids: row, logProbs, entropies } of references) {
    const ours = tokenLogProbsAndEntropies(config, weights, ids([row.slice(0, -1)]), ids([row.slice(1)]));
    expect(largestDifference(ours.logProbs.dataSync(), logProbs)).toBeLessThan(2e-5);
    expect(largestDifference(ours.entropies.dataSync(), entropies)).toBeLessThan(2e-5);
  }
});
