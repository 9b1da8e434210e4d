import type { TopK } from '@hindcast/contracts';
import { float32Tensor, type HostTensor } from '@hindcast/language-model';
import type { HostTensors } from './compute-backend';
import type { MicroBatch } from './micro-batches';
import { neededTensors } from './needed-positions';
import { inputLength, type TrainingSample } from './training-sample';

type Tokens = Pick<TrainingSample, 'promptIds' | 'responseIds'>;

/** Per-token numbers of one sample's response, `[R]` each. */
export interface ResponseNumbers {
  readonly oldLogProbs: ArrayLike<number>;
  readonly advantages: ArrayLike<number>;
  readonly weights: ArrayLike<number>;
  /** Where the loss needs them. */
  readonly refLogProbs?: ArrayLike<number>;
  /** The teacher's K most likely ids, `[R, K]`; all samples of a batch that have them have the same K. */
  readonly topK?: TopK;
}

/**
 * Token ids of a micro-batch and the ids that follow them, `[B, T]` int32. Row i reads prompt and response without the last
 * token; padding after it, and whole rows of padding, hold id 0 and have weight 0. With them, which positions are needed.
 */
export function tokenTensors(samples: readonly Tokens[], batch: MicroBatch): HostTensors {
  const { rows, length } = batch;
  const tokenIds = new Int32Array(rows * length);
  const targetIds = new Int32Array(rows * length);
  batch.samples.forEach((index, row) => {
    const { promptIds, responseIds } = samples[index]!;
    const tokens = new Int32Array(promptIds.length + responseIds.length);
    tokens.set(promptIds);
    tokens.set(responseIds, promptIds.length);
    tokenIds.set(tokens.subarray(0, -1), row * length);
    targetIds.set(tokens.subarray(1), row * length);
  });
  const tensor = (data: Int32Array): HostTensor => ({ dtype: 'int32', shape: [rows, length], data });
  return { tokenIds: tensor(tokenIds), targetIds: tensor(targetIds), ...neededTensors(samples, batch) };
}

/** Everything that the loss reads of a micro-batch: the tokens, and log π_old, A, w and log π_ref at the positions that predict a response token. */
export function lossTensors(
  samples: readonly Tokens[],
  numbers: readonly ResponseNumbers[],
  batch: MicroBatch,
): HostTensors {
  type Name = Exclude<keyof ResponseNumbers, 'topK'>;
  const spread = (name: Name, of: (index: number) => ArrayLike<number> | undefined = (i) => numbers[i]![name]) => {
    const data = new Float32Array(batch.rows * batch.length);
    batch.samples.forEach((index, row) => {
      const { promptIds, responseIds } = samples[index]!;
      const values = of(index) ?? [];
      if (values.length !== responseIds.length) {
        throw new RangeError(`${responseIds.length} response ids but ${values.length} ${name}`);
      }
      data.set(values, row * batch.length + promptIds.length - 1);
    });
    return float32Tensor([batch.rows, batch.length], data);
  };
  const k = batch.samples.map((index) => numbers[index]!.topK?.k).find((found) => found !== undefined);
  return {
    ...tokenTensors(samples, batch),
    oldLogProbs: spread('oldLogProbs'),
    advantages: spread('advantages'),
    tokenWeights: spread('weights'),
    ...(batch.samples.some((index) => numbers[index]!.refLogProbs) && { refLogProbs: spread('refLogProbs') }),
    ...(k !== undefined && {
      ...topKTensors(samples, numbers, batch, k),
      topKWeights: spread('weights', (i) => Float32Array.from(numbers[i]!.weights, (w) => (numbers[i]!.topK ? w : 0))),
    }),
  };
}

/**
 * The teacher's ids and log-probs where they are predicted, `[B, T, K]`. Elsewhere, where the weight is 0, stand id 0 and 1/(K + 1) for
 * each bin: a distribution, so that no number there is extreme.
 */
function topKTensors(
  samples: readonly Tokens[],
  numbers: readonly ResponseNumbers[],
  { samples: indices, rows, length }: MicroBatch,
  k: number,
): HostTensors {
  const ids = new Int32Array(rows * length * k);
  const logProbs = new Float32Array(rows * length * k).fill(-Math.log(k + 1));
  indices.forEach((index, row) => {
    const { topK } = numbers[index]!;
    if (!topK) return;
    const { promptIds, responseIds } = samples[index]!;
    if (topK.k !== k || topK.ids.length !== responseIds.length * k) {
      throw new RangeError(
        `${responseIds.length} response ids but top-K of [${topK.ids.length / topK.k}, ${topK.k}], K is ${k}`,
      );
    }
    const start = (row * length + promptIds.length - 1) * k;
    ids.set(topK.ids, start);
    logProbs.set(topK.logProbs, start);
  });
  const shape = [rows, length, k];
  return { topKIds: { dtype: 'int32', shape, data: ids }, topKLogProbs: float32Tensor(shape, logProbs) };
}

/** The response tokens' part of a `[B, T]` result, one `[R]` array per sample of the micro-batch, in its order. */
export function responseParts(samples: readonly Tokens[], batch: MicroBatch, result: HostTensor): Float32Array[] {
  return batch.samples.map((index, row) => {
    const sample = samples[index]!;
    const start = row * batch.length;
    return Float32Array.from(
      result.data.subarray(start + sample.promptIds.length - 1, start + inputLength(sample)) as Float32Array,
    );
  });
}
