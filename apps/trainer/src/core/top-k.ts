import type { TopK } from '@hindcast/contracts';
import type { TrainingSample } from './training-sample';

/** Why a stored top-K cannot be trained with this sample, or `null`. */
export function topKProblem(
  { k, ids }: TopK,
  { responseIds }: Pick<TrainingSample, 'responseIds'>,
  vocabSize: number,
): string | null {
  if (ids.length !== responseIds.length * k) {
    return `${responseIds.length} response ids but top-K of ${ids.length / k} positions`;
  }
  const stranger = ids.find((id) => id < 0 || id >= vocabSize);
  return stranger === undefined ? null : `token id ${stranger}, the vocabulary has ${vocabSize}`;
}

/**
 * The values cut to the smallest K among them, so that a batch has one: the most likely ids stay, and what they leave is in the tail's
 * bin, where it is as true as before. `null` stays `null`.
 */
export function sameTopK(values: readonly (TopK | null)[]): (TopK | null)[] {
  const smallest = Math.min(...values.flatMap((value) => (value ? [value.k] : [])));
  return values.map((value) => value && cutTopK(value, smallest));
}

function cutTopK(value: TopK, k: number): TopK {
  if (value.k === k) return value;
  const rows = value.ids.length / value.k;
  const ids = new Int32Array(rows * k);
  const logProbs = new Float32Array(rows * k);
  for (let row = 0; row < rows; row++) {
    const start = row * value.k;
    const best = Array.from({ length: value.k }, (_, i) => start + i)
      .sort((a, b) => value.logProbs[b]! - value.logProbs[a]! || a - b)
      .slice(0, k);
    best.forEach((at, i) => {
      ids[row * k + i] = value.ids[at]!;
      logProbs[row * k + i] = value.logProbs[at]!;
    });
  }
  return { k, ids, logProbs };
}
