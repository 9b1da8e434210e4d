import type { HostTensor } from '@hindcast/language-model';
import type { HostTensors } from './compute-backend';
import type { MicroBatch } from './micro-batches';
import type { TrainingSample } from './training-sample';

type Tokens = Pick<TrainingSample, 'promptIds' | 'responseIds'>;

/** Keys of the two tensors of `NeededRows`. */
export const NEEDED_ROWS = 'neededRows';
export const NEEDED_PLACES = 'neededPlaces';

/** P as shares of all positions: few, because each is a graph of its own. */
const SHARES = [1 / 8, 1 / 4, 1 / 2, 3 / 4, 7 / 8];

/**
 * The positions of a micro-batch that predict a response token, as `NeededRows` of libs/language-model: `neededRows` `[P]` and
 * `neededPlaces` `[B·T]`, int32. Empty when too few positions would be left out to pay for it.
 */
export function neededTensors(samples: readonly Tokens[], { samples: indices, rows, length }: MicroBatch): HostTensors {
  const total = rows * length;
  const isNeeded = new Uint8Array(total);
  indices.forEach((index, row) => {
    const { promptIds, responseIds } = samples[index]!;
    const first = row * length + promptIds.length - 1;
    isNeeded.fill(1, first, first + responseIds.length);
  });
  const needed = isNeeded.reduce((sum, one) => sum + one, 0);
  const size = SHARES.map((share) => Math.floor(share * total)).find((p) => needed < p);
  if (size === undefined) return {};
  // What is not needed stands at the end, and every position that is not needed points there.
  const chosen = new Int32Array(size).fill(isNeeded.indexOf(0));
  const places = new Int32Array(total).fill(size - 1);
  let next = 0;
  for (let position = 0; position < total; position++) {
    if (isNeeded[position] === 0) continue;
    chosen[next] = position;
    places[position] = next++;
  }
  const tensor = (data: Int32Array): HostTensor => ({ dtype: 'int32', shape: [data.length], data });
  return { [NEEDED_ROWS]: tensor(chosen), [NEEDED_PLACES]: tensor(places) };
}
