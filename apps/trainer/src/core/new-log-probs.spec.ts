import { newLogProbs } from './new-log-probs';
import type { TrainedWeights } from './tuning';

const weights: TrainedWeights = new Map();
const sample = { promptIds: Int32Array.of(1), responseIds: Int32Array.of(2, 3) };

it.each([
  ['NaN', [-1, NaN], null],
  ['−∞', [-Infinity, -1], null],
  ['a probability above 1', [0.5, -1], null],
  ['a log-prob rounded above 0', [1e-7, -1], [1e-7, -1]],
])('%s: the other samples have theirs all the same', async (_, strange: number[], kept: number[] | null) => {
  const all = [Float32Array.from(strange), Float32Array.of(-1, -2)];
  const found = await newLogProbs({ responseLogProbs: () => Promise.resolve(all) }, [sample, sample], weights);
  expect(found).toEqual([kept && Float32Array.from(kept), Float32Array.of(-1, -2)]);
});
