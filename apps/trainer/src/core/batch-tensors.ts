import { float32Tensor, type HostTensor } from '@hindcast/language-model';
import type { HostTensors } from './compute-backend';
import type { MicroBatch } from './micro-batches';
import { inputLength, type TrainingSample } from './training-sample';

type Tokens = Pick<TrainingSample, 'promptIds' | 'responseIds'>;

/** Per-token numbers of one sample's response, `[R]` each. */
export interface ResponseNumbers {
  readonly oldLogProbs: ArrayLike<number>;
  readonly advantages: ArrayLike<number>;
  readonly weights: ArrayLike<number>;
  /** Where the loss has a KL term. */
  readonly refLogProbs?: ArrayLike<number>;
}

/**
 * Token ids of a micro-batch and the ids that follow them, `[B, T]` int32. Row i reads prompt and response without the last
 * token; padding after it, and whole rows of padding, hold id 0 and have weight 0.
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
  return { tokenIds: tensor(tokenIds), targetIds: tensor(targetIds) };
}

/** Everything that the loss reads of a micro-batch: the tokens, and log π_old, A, w and log π_ref at the positions that predict a response token. */
export function lossTensors(
  samples: readonly Tokens[],
  numbers: readonly ResponseNumbers[],
  batch: MicroBatch,
): HostTensors {
  const spread = (name: keyof ResponseNumbers): HostTensor => {
    const data = new Float32Array(batch.rows * batch.length);
    batch.samples.forEach((index, row) => {
      const values = numbers[index]![name] ?? [];
      const { promptIds, responseIds } = samples[index]!;
      if (values.length !== responseIds.length) {
        throw new RangeError(`${responseIds.length} response ids but ${values.length} ${name}`);
      }
      data.set(values, row * batch.length + promptIds.length - 1);
    });
    return float32Tensor([batch.rows, batch.length], data);
  };
  return {
    ...tokenTensors(samples, batch),
    oldLogProbs: spread('oldLogProbs'),
    advantages: spread('advantages'),
    tokenWeights: spread('weights'),
    ...(batch.samples.some((index) => numbers[index]!.refLogProbs) && { refLogProbs: spread('refLogProbs') }),
  };
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
